import { createHmac, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { Sandbox } from "../../src/orders/payments/sandbox.ts"
import { newestLink, register } from "../accounts/person.ts"
import { bitcoin } from "../directory/directory-service.ts"
import type { Answer, TestService } from "../fixtures/service.ts"
import { done, type KeyedRequest } from "../http/keyed-routes/keyed-request.ts"
import { card, freshId } from "../orders/shopper.ts"
import { makeWalletUser } from "../partners/partner.ts"
import { authorizeAddress, makeVisitor, registerApplication } from "../sign-in/oauth/application.ts"
import { grant } from "../transfers/transfer-service.ts"
import type { MakeRequest } from "./read-requests.ts"

const stripeSecret = "whsec_example"
/** The settings of a service to which Stripe sends webhooks. */
export const stripeSettings = { STRIPE_SECRET_KEY: "sk_test_example", STRIPE_WEBHOOK_SECRET: stripeSecret }

const get = (path: string, headers: Record<string, string> = {}): KeyedRequest => ({
  method: "GET",
  path,
  options: { headers },
})

/** Makes the request that a browser sends when its user submits the first form of the page. */
const formOf = (
  page: Answer,
  cookies: ReadonlyMap<string, string>,
  fields: Record<string, string>,
): KeyedRequest => {
  const attribute = (pattern: RegExp) => (pattern.exec(page.text)?.[1] ?? "").replaceAll("&amp;", "&")
  const hidden = [...page.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name, value]) => [name!, value!] as const,
  )
  return {
    method: "POST",
    path: attribute(/<form method="post"[^>]* action="([^"]*)"/),
    options: {
      rawBody: new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }).toString(),
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      },
    },
  }
}

/** Makes the requests of pages and their forms, and of webhooks. */
export const makePageRequests = async (
  service: TestService,
): Promise<Readonly<Record<string, MakeRequest>>> => {
  const admin = await service.user({ role: "Admin" })
  await done(service, admin, "POST", "/organizations", {
    name: "Octo Wallet",
    partner_path: "octo",
    return_link: "https://octo.example/wallet",
  })
  const application = await registerApplication(service, "https://app.example/back")
  const authorizePath = authorizeAddress(application)
  const submitted = async (path: string, fields: Record<string, string>) => {
    const visitor = makeVisitor(service)
    return formOf(await visitor.get(path), visitor.cookies, fields)
  }
  /** Opens a page of a partner flow as a wallet does: the page takes the token from the URL. */
  const partnerPage = (path: string, fields?: Record<string, string>) => async () => {
    const user = await makeWalletUser(service, randomUUID())
    await grant(service, user, freshId())
    const { refresh } = user
    const address = `/partner/octo${path}?${new URLSearchParams({ refresh_token: refresh })}`
    if (fields === undefined) return get(address)
    const visitor = makeVisitor(service)
    const first = await visitor.get(address)
    return formOf(await visitor.get(first.headers.get("location") ?? ""), visitor.cookies, fields)
  }
  const mailedLink = async () => {
    const { email } = await service.user()
    await service.call("POST", "/auth/magic_link", { body: { email } })
    return `/magic_link?refresh_token=${await newestLink(service, email)}`
  }
  const sandboxSession = async () => {
    const buyer = await service.user()
    await done(service, buyer, "POST", "/cart", { items: [{ emoji_id: freshId() }] })
    const order = await done(service, buyer, "POST", "/cart/checkout", card)
    return { order, path: `/sandbox/checkout/${order.payment_method_data.session_id}` }
  }
  const signedWebhook = async (): Promise<KeyedRequest> => {
    const { order } = await sandboxSession()
    const rawBody = JSON.stringify({
      id: `evt_${randomUUID()}`,
      event: {
        ...{ kind: "captured", provider: "sandbox", fact: `sandbox:${randomUUID()}`, orderId: order.id },
        ...{ intentId: "pi", cents: order.total_in_cents },
      },
    })
    const signature = await service.runtime.runPromise(
      Effect.map(Sandbox, (sandbox) => sandbox.sign(Buffer.from(rawBody))),
    )
    return {
      method: "POST",
      path: "/webhooks/sandbox",
      options: { rawBody, headers: { "content-type": "application/json", "sandbox-signature": signature } },
    }
  }

  return {
    sandboxCheckout: async () => get((await sandboxSession()).path),
    sandboxPay: async () => ({
      method: "POST",
      path: (await sandboxSession()).path,
      options: {
        rawBody: "action=pay",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      },
    }),
    sandboxWebhook: signedWebhook,
    authorize: () => get(authorizePath),
    authorizeForm: async () => {
      const { email } = await register(service)
      return submitted(authorizePath, { action: "link", email })
    },
    magicLink: async () => get(await mailedLink()),
    useMagicLink: async () => submitted(await mailedLink(), { action: "use" }),
    passwordReset: () => get("/password_reset"),
    usePasswordReset: async () => submitted("/password_reset", { email: (await service.user()).email }),
    partnerGet: partnerPage(""),
    partnerCreate: partnerPage("/create"),
    partnerGetForm: partnerPage("", { action: "choose", emoji_id: freshId() }),
    partnerConnect: partnerPage("/link-email"),
    partnerConnectForm: partnerPage("/link-email", { action: "cancel" }),
    partnerManage: partnerPage("/manage"),
    partnerManageForm: partnerPage("/manage", { action: "add", tag: "0x1003", data: bitcoin }),
  }
}

/** Makes the webhook that Stripe sends. The service does nothing for an event of this type. */
export const stripeWebhook = (): KeyedRequest => {
  const rawBody = JSON.stringify({
    ...{ id: "evt_example", object: "event", type: "product.created", created: 1_769_860_800 },
    ...{ livemode: false, data: { object: { id: "prod_example", object: "product" } } },
  })
  const at = Math.floor(Date.now() / 1000)
  const signature = createHmac("sha256", stripeSecret).update(`${at}.${rawBody}`).digest("hex")
  return {
    method: "POST",
    path: "/webhooks/stripe",
    options: {
      rawBody,
      headers: { "content-type": "application/json", "stripe-signature": `t=${at},v1=${signature}` },
    },
  }
}

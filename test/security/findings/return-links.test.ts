import { describe, expect, it } from "vitest"
import { isPartnerLink } from "../../../schema/web-link.ts"
import { endGrace, login, register, totpCode, turnOnTotp } from "../../accounts/person.ts"
import { serveDirectory } from "../../directory/directory-service.ts"
import { freshId } from "../../orders/shopper.ts"
import { makeWalletUser } from "../../partners/partner.ts"
import { locationOf, makeVisitor } from "../../sign-in/oauth/application.ts"

/** Partner flows send refresh tokens to the return link of the partner, so only the operator may change it. */

const service = await serveDirectory({}, { peersPossible: true })
const { admin } = service
const call = (method: string, path: string, token: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) })
let made = 0
const wallet = "wallet://back"
const makeOrganization = async (facts: Record<string, unknown> = {}) => {
  const partner_path = `links-${++made}`
  const body = { name: `Links ${made}`, partner_path, return_link: wallet, ...facts }
  const answer = await call("POST", "/organizations", admin.token, body)
  expect(answer.status).toBe(200)
  const path = `/organizations/${answer.body.id}`
  const member = async (role: string) => {
    const user = await service.user()
    expect((await call("PUT", `${path}/members/${user.id}`, admin.token, { role })).status).toBe(200)
    return user
  }
  const link = async () => (await call("GET", path, admin.token)).body.return_link
  return { id: answer.body.id as string, name: body.name, partner_path, path, member, link }
}
const mails = async (to: string) =>
  (
    (await service.call("GET", `/dev/outbox?to=${encodeURIComponent(to)}`)).body as Array<{
      kind: string
      text: string
    }>
  )
    .filter(({ kind }) => kind === "return_link_changed")
    .map(({ text }) => text)

describe("the return link of an organization", () => {
  it("cannot be changed by the organization's owners and controllers, who can edit the rest of the branding", async () => {
    const { link, member, path } = await makeOrganization()
    for (const user of [await member("OrgOwner"), await member("OrgController")]) {
      const evil = "https://evil.example/"
      for (const refused of [
        await call("PUT", `${path}/branding`, user.token, { currencies: ["BTC"], return_link: evil }),
        await call("PATCH", path, user.token, { name: "Renamed", return_link: evil }),
      ])
        expect([refused.status, refused.body.scope]).toEqual([403, "organization:admin"])
      expect(await link()).toBe(wallet)
      expect((await call("GET", path, user.token)).body.name).not.toBe("Renamed")
      const logo = "https://wallet.example/logo.svg"
      const unchanged = { currencies: ["BTC"], return_link: wallet, logo }
      for (const branding of [unchanged, { currencies: ["BTC"], logo }]) {
        const put = await call("PUT", `${path}/branding`, user.token, branding)
        expect(put.body).toMatchObject(unchanged)
      }
      expect((await call("PATCH", path, user.token, { name: "By us", return_link: wallet })).status).toBe(200)
      expect(await mails(user.email)).toEqual([])
    }
  })

  it("stays as it is when a controller sends the branding of an organization that has none", async () => {
    const { member, path } = await makeOrganization({ return_link: null })
    const controller = await member("OrgController")
    const put = await call("PUT", `${path}/branding`, controller.token, { currencies: [], return_link: "" })
    expect([put.status, put.body.return_link]).toEqual([200, ""])
  })

  it("cannot be changed with an API key of an owner that lists organization:admin", async () => {
    const { link, member, path } = await makeOrganization()
    const owner = await member("OrgOwner")
    const scopes = ["organization:admin", "organization:write"]
    const { body } = await call("POST", "/api_keys", owner.token, { name: "key", scopes })
    const refused = await service.call("PATCH", path, {
      headers: { "x-api-key": body.api_key },
      body: { return_link: "https://evil.example/" },
    })
    expect([refused.status, await link()]).toEqual([403, wallet])
  })

  it("is changed by an administrator, and the owners get a mail with the old and the new link", async () => {
    const { link, member, name, path } = await makeOrganization()
    const [owner, controller] = [await member("OrgOwner"), await member("OrgController")]
    const unconfirmed = await member("OrgOwner")
    await service.sql`update app_user set email_verified_at = null where id = ${unconfirmed.id}`
    const first = "https://wallet.example/done?from=directory"
    expect((await call("PATCH", path, admin.token, { return_link: first })).status).toBe(200)
    const second = { currencies: [], return_link: "com.example.wallet:/done" }
    expect((await call("PUT", `${path}/branding`, admin.token, second)).status).toBe(200)
    expect(await link()).toBe(second.return_link)
    const texts = await mails(owner.email)
    expect(texts).toHaveLength(2)
    expect(texts[1]).toContain(name)
    expect([texts[1]?.includes(wallet), texts[1]?.includes(first)]).toEqual([true, true])
    expect([texts[0]?.includes(first), texts[0]?.includes(second.return_link)]).toEqual([true, true])
    expect(await mails(controller.email)).toEqual([])
    expect(await mails(unconfirmed.email)).toEqual([])
    expect((await call("PUT", `${path}/branding`, admin.token, second)).status).toBe(200)
    expect(await mails(owner.email)).toHaveLength(2)
  })

  it("needs a recent code of an administrator who has two-factor login", async () => {
    const { link, path } = await makeOrganization()
    const person = await register(service)
    expect((await call("PATCH", `/users/${person.id}`, admin.token, { role: "Admin" })).status).toBe(200)
    const { secret } = await turnOnTotp(service, person.token)
    const pending = (await login(service, person.email)).body.refresh_token
    const { body } = await service.call("POST", "/auth/2fa", {
      body: { refresh_token: pending, code: totpCode(secret) },
    })
    const change = async (changes: unknown) => (await call("PATCH", path, body.access_token, changes)).status
    expect(await change({ return_link: "https://first.example/" })).toBe(200)
    await endGrace(service, person.id)
    expect(await change({ return_link: "https://second.example/" })).toBe(424)
    expect(await change({ client_fee_basis_points: 100 })).toBe(424)
    const branding = { currencies: [], return_link: "https://second.example/" }
    expect((await call("PUT", `${path}/branding`, body.access_token, branding)).status).toBe(424)
    expect(await link()).toBe("https://first.example/")
    expect(await change({ name: "No code needed" })).toBe(200)
  })

  it.each([
    "http://wallet.example/done",
    "HTTP://wallet.example/done",
    "http://localhost.evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "blob:https://wallet.example/x",
    "vbscript://x",
    "about:blank",
    "intent://x#Intent;end",
    "ftp://wallet.example/",
    "android-app://com.evil/",
  ])("cannot be %s", async (return_link) => {
    const { link, path } = await makeOrganization()
    const answers = [
      await call("PATCH", path, admin.token, { return_link }),
      await call("PUT", `${path}/branding`, admin.token, { currencies: [], return_link }),
      await call("POST", "/organizations", admin.token, { name: "Bad", return_link }),
    ]
    for (const { body, status } of answers)
      expect([status, body.error.includes("return_link")]).toEqual([400, true])
    expect(await link()).toBe(wallet)
  })

  it.each([
    "https://wallet.example/done",
    "mywallet://done",
    "com.example.wallet:/done",
    "http://localhost:8080/x",
  ])("can be %s on a development server", async (return_link) => {
    const { link, path } = await makeOrganization()
    expect((await call("PATCH", path, admin.token, { return_link })).status).toBe(200)
    expect(await link()).toBe(return_link)
  })

  it("can be http only for a loopback host, and not in production", () => {
    const isAllowed = (link: string) => [false, true].map((production) => isPartnerLink(link, { production }))
    expect(isAllowed("http://127.0.0.1:8080/done")).toEqual([true, false])
    expect(isAllowed("http://wallet.example/done")).toEqual([false, false])
    expect(isAllowed("https://wallet.example/done")).toEqual([true, true])
    expect(isAllowed("wallet://done")).toEqual([true, true])
  })

  it("never reverts to the old link when a controller edits the branding while an administrator changes the link", async () => {
    const { link, member, path } = await makeOrganization()
    const controller = await member("OrgController")
    const next = "https://wallet.example/next"
    const edits = Array.from({ length: 12 }, () =>
      call("PUT", `${path}/branding`, controller.token, { currencies: ["BTC"], return_link: wallet }),
    )
    const [changed] = await Promise.all([call("PATCH", path, admin.token, { return_link: next }), ...edits])
    expect([changed?.status, await link()]).toEqual([200, next])
  })
})

describe("a partner flow", () => {
  /** Cancels flow 1 and connects an id in flow 2. Returns the parameters of both returns. */
  const returnsOf = async (partnerPath: string, name: string) => {
    const user = await makeWalletUser(service, name)
    const id = freshId()
    await service.register(id, user)
    const go = async (path: string, form: Record<string, string>) => {
      const visitor = makeVisitor(service)
      await visitor.get(`${path}?${new URLSearchParams({ refresh_token: user.refresh })}`)
      const page = await visitor.get(path)
      return locationOf(await visitor.submit(page, form)).searchParams
    }
    const cancelled = await go(`/partner/${partnerPath}`, { action: "abort" })
    const connected = await go(`/partner/${partnerPath}/link-email`, { action: "connect", emoji_id: id })
    return { user, id, cancelled, connected }
  }

  it("sends the refresh token to an https link", async () => {
    const { partner_path } = await makeOrganization({ return_link: "https://wallet.example/done" })
    const { cancelled, connected, id, user } = await returnsOf(partner_path, "https-user")
    expect(Object.fromEntries(cancelled)).toEqual({
      action: "create",
      status: "aborted",
      refresh_token: user.refresh,
    })
    expect(Object.fromEntries(connected)).toEqual({
      action: "connect",
      eid: id,
      eids: id,
      refresh_token: user.refresh,
    })
  })

  it("returns to an http link that was stored before without the refresh token", async () => {
    const { id: organizationId, partner_path } = await makeOrganization()
    await service.sql`update organization set return_link = 'http://wallet.example/done' where id = ${organizationId}`
    const { cancelled, connected, id } = await returnsOf(partner_path, "http-user")
    expect(Object.fromEntries(cancelled)).toEqual({ action: "create", status: "aborted" })
    expect(Object.fromEntries(connected)).toEqual({ action: "connect", eid: id, eids: id })
  })
})

import { createHash, randomBytes } from "node:crypto"
import { expect } from "vitest"
import { mails } from "../../accounts/person.ts"
import type { Answer, CallOptions, TestService } from "../../fixtures/service.ts"

/** Creates a minimal browser. It stores cookies and submits forms, but does not follow redirects. */
export const makeVisitor = (service: TestService) => {
  const cookies = new Map<string, string>()
  const remember = ({ headers }: Answer) => {
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ")
      const [name = "", value = ""] = pair.split("=")
      if (attributes.includes("Max-Age=0")) cookies.delete(name)
      else cookies.set(name, value)
    }
  }
  const call = async (method: string, address: string, options: CallOptions = {}) => {
    const path = address.replace(service.url, "")
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const answer = await service.call(method, path, { ...options, headers: { cookie, ...options.headers } })
    remember(answer)
    return answer
  }
  const decode = (text: string) =>
    text
      .replaceAll("&amp;", "&")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
  return {
    cookies,
    get: (address: string, headers: Record<string, string> = {}) => call("GET", address, { headers }),
    /**
     * Submits the first form of the page with its hidden fields and with `fields`. `overrides` can replace any of
     * these.
     */
    submit: (page: Answer, fields: Record<string, string>, overrides: Record<string, string> = {}) => {
      const action = decode(/<form[^>]* action="([^"]*)"/.exec(page.text)?.[1] ?? "")
      const token = decode(/name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? "")
      const marks = [...page.text.matchAll(/type="hidden" name="(visit|user)" value="([^"]*)"/g)]
      const hidden = {
        form_token: token,
        ...Object.fromEntries(marks.map(([, name, value]) => [name, value])),
      }
      return call("POST", action, {
        rawBody: new URLSearchParams({ ...hidden, ...fields, ...overrides }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      })
    },
  }
}
export type Visitor = ReturnType<typeof makeVisitor>

export const locationOf = (answer: Answer) => new URL(answer.headers.get("location") ?? "", "http://none")

export interface Application {
  readonly clientId: string
  readonly secret: string
  readonly redirectUri: string
}

export const registerApplication = async (
  service: TestService,
  redirectUri: string,
  name = "Octo Chat",
  organizationId?: string,
): Promise<Application> => {
  const admin = await service.user({ role: "Admin" })
  const { body } = await service.call("POST", "/oauth_clients", {
    token: admin.token,
    body: { name, redirect_uris: [redirectUri], organization_id: organizationId },
  })
  return { clientId: body.client_id, secret: body.client_secret, redirectUri }
}

export const pkce = () => {
  const verifier = randomBytes(32).toString("base64url")
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") }
}

export const authorizeAddress = (app: Application, more: Record<string, string> = {}) =>
  `/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: "svc",
    state: "s-1",
    ...more,
  })}`

export const tokenCall = (service: TestService, fields: Record<string, string>, headers = {}) =>
  service.call("POST", "/token", {
    rawBody: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  })

export const newestMailLink = async (service: TestService, to: string) =>
  (await mails(service, to)).find(({ link }) => link !== undefined)?.link ?? ""

/** Logs a user in by an emailed link. Returns the page to which the link redirects. */
export const logInByMail = async (
  service: TestService,
  visitor: Visitor,
  address: string,
  email: string,
): Promise<Answer> => {
  const login = await visitor.get(address)
  const pending = await visitor.submit(login, { action: "link", email })
  expect(pending.status).toBeLessThan(400)
  const link = new URL(await newestMailLink(service, email))
  const page = await visitor.get(`${link.pathname}${link.search}`)
  const used = await visitor.submit(page, { action: "use" })
  expect(used.status).toBe(303)
  return visitor.get(locationOf(used).pathname + locationOf(used).search)
}

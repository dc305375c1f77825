import { describe, expect, it } from "vitest"
import { readConfig } from "../../../src/config/read-config.ts"
import { freePort } from "../../fixtures/free-port.ts"
import { recaptchaSecret, serveRecaptcha } from "../../fixtures/servers/recaptcha.ts"
import { serve } from "../../fixtures/service.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"
import { password, someEmail } from "../person.ts"

const recaptcha = await serveRecaptcha()
const keys = { RECAPTCHA_SITE_KEY: "site-key", RECAPTCHA_URL: recaptcha.url }
const service = await serve({ ...keys, RECAPTCHA_SECRET: recaptchaSecret })

let responses = 0
const human = () => `human ${++responses}`
const field = "g_recaptcha_response"
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  service.call("POST", path, { body, headers })
const registered = async () => {
  const email = someEmail()
  const { body, status } = await post("/users", { email, password, [field]: human() })
  expect(status).toBe(200)
  return { email, token: body.access_token as string }
}

const { email } = await registered()
const operations = [
  ["POST /auth/token", "/auth/token", () => ({ email, password })],
  ["POST /auth/magic_link", "/auth/magic_link", () => ({ email })],
  ["POST /auth/password_reset", "/auth/password_reset", () => ({ email })],
  ["POST /users", "/users", () => ({ email: someEmail(), password })],
] as const

describe.each(operations)("with RECAPTCHA_SECRET, %s", (_, path, body) => {
  it("needs a response, which the verifier must accept, and which works once", async () => {
    const response = human()
    const missing = await post(path, body())
    expect([missing.status, missing.body.fields[field][0].code]).toEqual([422, "required"])
    expect((await post(path, { ...body(), [field]: response })).status).toBe(200)
    expect(recaptcha.asked.at(-1)).toEqual({ secret: recaptchaSecret, response })
    for (const refused of [response, "wrong", "robot"]) {
      const answer = await post(path, { ...body(), [field]: refused })
      expect([answer.status, answer.body.fields[field][0].code]).toEqual([422, "invalid"])
    }
  })

  it("needs no response with a valid API key, but with an unknown key", async () => {
    const { token } = await registered()
    const made = await service.call("POST", "/api_keys", { token, body: { name: "partner" } })
    const key: string = made.body.api_key
    expect((await post(path, body(), { "x-api-key": key })).status).toBe(200)
    expect((await post(path, body(), { authorization: `Bearer ${key}` })).status).toBe(200)
    const unknown = `${key.slice(0, -4)}0000`
    expect((await post(path, body(), { "x-api-key": unknown })).status).toBe(422)
  })

  it("answers 503 with Retry-After if the verifier fails, sends no verdict, or refuses the secret", async () => {
    for (const [status, text] of [
      [500, "{}"],
      [200, "<html>"],
      [200, JSON.stringify({ success: false, "error-codes": ["invalid-input-secret"] })],
    ] as const) {
      recaptcha.answerNext(status, text)
      const answer = await post(path, { ...body(), [field]: human() })
      expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([503, 5])
    }
  })
})

describe("reCAPTCHA", () => {
  it("is not checked without RECAPTCHA_SECRET, so any response is accepted", async () => {
    const without = await serve({ RECAPTCHA_URL: recaptcha.url })
    const before = recaptcha.asked.length
    const body = { email: someEmail(), password, [field]: "anything" }
    expect((await without.call("POST", "/users", { body })).status).toBe(200)
    expect(recaptcha.asked.length).toBe(before)
    expect((await without.call("GET", "/")).text).not.toContain("recaptcha")
    await without.stop()
  })

  it("fails with 503 if the verifier cannot be reached", async () => {
    const RECAPTCHA_URL = `http://127.0.0.1:${await freePort()}`
    const alone = await serve({ ...keys, RECAPTCHA_SECRET: recaptchaSecret, RECAPTCHA_URL })
    const body = { email: someEmail(), [field]: human() }
    expect((await alone.call("POST", "/users", { body })).status).toBe(503)
    expect(await alone.sql`select 1 from app_user`).toEqual([])
    await alone.stop()
  })

  it("needs both the secret and the site key", () => {
    expect(readConfig({ RECAPTCHA_SECRET: "x" })).toEqual({
      problems: ["RECAPTCHA_SECRET: set both RECAPTCHA_SECRET and RECAPTCHA_SITE_KEY, or neither"],
    })
  })
})

describe("pages with a sign-in form", () => {
  it("load the script of reCAPTCHA and allow it in their Content-Security-Policy, other pages do not", async () => {
    for (const path of ["/", "/password_reset"]) {
      const { headers, text } = await service.call("GET", path)
      expect(text).toContain(`<script src="${recaptcha.url}/api.js?render=site-key" async></script>`)
      const policy = headers.get("content-security-policy") ?? ""
      expect(policy).toContain(`script-src 'self' ${recaptcha.url}/ https://www.gstatic.com/recaptcha/;`)
      expect(policy).toContain(`frame-src ${recaptcha.url}/`)
    }
    const docs = await service.call("GET", "/docs")
    expect(docs.text).not.toContain("api.js?render")
    expect(docs.headers.get("content-security-policy")).not.toContain("recaptcha")
  })

  it("show an error if their form has no valid response, and send the mail if it has one", async () => {
    const visitor = makeVisitor(service)
    const page = await visitor.get("/password_reset")
    const refused = await visitor.submit(page, { email })
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("not a robot")])
    const sent = await visitor.submit(refused, { email, [field]: human() })
    expect([sent.status, sent.text]).toEqual([200, expect.stringContaining("Check your email")])
  })
})

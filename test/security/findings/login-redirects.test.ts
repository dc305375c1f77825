import { describe, expect, it } from "vitest"
import { login, register, someEmail } from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"

const service = await serve()

/** Opens the page of a link with this redirect as a browser does, presses its button, and returns where it leads. */
const endOf = async (redirect: string) => {
  const { email } = await register(service)
  const { refresh_token } = (await login(service, email)).body
  const search = new URLSearchParams({ refresh_token, redirect })
  const opened = await service.call("GET", `/magic_link?${search}`)
  const [handed] = (opened.headers.get("set-cookie") ?? "").split(";")
  const path = opened.headers.get("location") ?? ""
  const shown = await service.call("GET", path, { headers: { cookie: handed ?? "" } })
  const [fresh] = (shown.headers.get("set-cookie") ?? "").split(";")
  const form_token = /name="form_token" value="([^"]+)"/.exec(shown.text)?.[1] ?? ""
  const used = await service.call("POST", path, {
    rawBody: new URLSearchParams({ form_token, action: "use" }).toString(),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      cookie: [handed, fresh].join("; "),
      origin: service.url,
      "sec-fetch-site": "same-origin",
    },
  })
  expect(used.status).toBe(303)
  return used.headers.get("location")
}

const foreign = [
  "/redirect?emoji_id=%F0%9F%9A%80",
  "/partner/../redirect?emoji_id=%F0%9F%9A%80",
  "/partner/%2e%2e/redirect?emoji_id=%F0%9F%9A%80",
  "/sandbox/checkout/1",
  "/partnership",
  "//evil.example/partner/",
  "/\\evil.example/partner/",
]

describe("a login by link", () => {
  it.each(foreign)("does not end at %s, which can lead to another site or is no page", async (redirect) => {
    expect(await endOf(redirect)).toBe("/magic_link/done")
  })

  it.each([
    ["/?emoji_id=🚀#/account", "/?emoji_id=%F0%9F%9A%80#/account"],
    ["/partner/demo?cart", "/partner/demo?cart"],
    ["/docs", "/docs"],
  ])("ends at the own page %s", async (redirect, location) => {
    expect(await endOf(redirect)).toBe(location)
  })
})

describe("a request for a link", () => {
  it.each(foreign)("with the redirect %s gets 400", async (redirect) => {
    const { body, status } = await service.call("POST", "/auth/magic_link", {
      body: { email: someEmail(), redirect },
    })
    expect(status).toBe(400)
    expect(body.error).toContain("expected the path of a page")
  })

  it("with the redirect to a page of a partner is accepted", async () => {
    const body = { email: someEmail(), redirect: "/partner/demo?x=1" }
    expect((await service.call("POST", "/auth/magic_link", { body })).status).toBe(200)
  })
})

import { expect, it } from "vitest"
import { login, newestLink, password, register, someEmail } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { authorizeAddress, locationOf, makeVisitor, registerApplication } from "./oauth/application.ts"

const service = await serveDirectory()
const app = await registerApplication(service, "https://octo.example/callback")

it("a refresh token in the URL is moved to a cookie before a page is shown", async () => {
  const person = await register(service)
  await service.register("🐢🎷", person)
  const { refresh_token } = (await login(service, person.email, password)).body
  const request = new URL(authorizeAddress(app), service.url).search.slice(1)
  const visitor = makeVisitor(service)
  const moved = await visitor.get(`/magic_link?${request}&${new URLSearchParams({ refresh_token })}`)
  expect([moved.status, moved.headers.get("cache-control")]).toEqual([303, "no-store"])
  expect(moved.headers.get("location")).not.toContain("refresh_token")
  expect(moved.headers.getSetCookie().join()).toMatch(/; HttpOnly; SameSite=Lax/)

  const page = await visitor.get(moved.headers.get("location") ?? "")
  expect(page.text).toContain(person.email)
  expect(page.text).not.toContain(refresh_token)
  const used = await visitor.submit(page, { action: "use" })
  expect(used.status).toBe(303)
  const done = await visitor.get(used.headers.get("location") ?? "")
  expect(locationOf(done).searchParams.has("code")).toBe(true)
  expect(visitor.cookies.get("svc_given")).not.toContain(refresh_token)
  expect([...visitor.cookies.keys()].sort()).toEqual(["svc_form", "svc_given", "svc_session"])
})

it("after a link of another user was opened, the button of the older page shows the other user's email address and logs nobody in", async () => {
  const [person, stranger] = [await register(service), await register(service)]
  const hand = (refresh_token: string) => visitor.get(`/magic_link?${new URLSearchParams({ refresh_token })}`)
  const visitor = makeVisitor(service)
  const page = await visitor.get((await hand(person.refresh)).headers.get("location") ?? "")
  expect(page.text).toContain(person.email)
  await hand(stranger.refresh)

  const pressed = await visitor.submit(page, { action: "use" })
  expect(visitor.cookies.has("svc_session")).toBe(false)
  expect(pressed.text).toContain(stranger.email)
  expect((await visitor.submit(pressed, { action: "use" })).status).toBe(303)
})

it("a login by a refresh token in the URL does not confirm the email address", async () => {
  const email = someEmail()
  const made = await service.call("POST", "/users", { body: { email } })
  const visitor = makeVisitor(service)
  const use = async (refresh_token: string) => {
    const first = await visitor.get(`/magic_link?${new URLSearchParams({ refresh_token })}`)
    const next = first.headers.get("location")
    await visitor.submit(next === null ? first : await visitor.get(next), { action: "use" })
    return visitor.get("/magic_link/done")
  }
  const end = await use(made.body.refresh_token)
  expect([end.status, end.text.includes(email), end.text.includes("confirmed")]).toEqual([200, true, false])
  // The page does not offer to set a password, because a password is rejected until the emailed link is used.
  expect(end.text).not.toContain('name="password"')

  const confirmed = await use(await newestLink(service, email))
  expect(confirmed.text).toContain("Your address is confirmed")
  expect(confirmed.text).toContain('name="password"')
})

it("a link with a refresh token is rejected with 400 if its parameters are too long for a response header", async () => {
  const { refresh } = await register(service)
  const address = (redirect_uri: string) =>
    `/magic_link?${new URLSearchParams({ refresh_token: refresh, redirect_uri })}`
  const visitor = makeVisitor(service)
  expect((await visitor.get(address("x".repeat(4000)))).status).toBe(303)
  expect((await visitor.get(address("é".repeat(1500)))).status).toBe(400)
})

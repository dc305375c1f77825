import { describe, expect, it } from "vitest"
import { endGrace, login, password, register, totpCode, turnOnTotp } from "../accounts/person.ts"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { atSandbox, freshId, until } from "../orders/shopper.ts"
import { locationOf, logInByMail, makeVisitor, type Visitor } from "../sign-in/oauth/application.ts"
import { addressJson, makePartner, makeWalletUser } from "./partner.ts"

const service = await serveDirectory()
const partner = await makePartner(service)
const path = "/partner/octo"

let devices = 0
const walletUser = () => makeWalletUser(service, `wallet-${++devices}`)

const enter = async (visitor: Visitor, where: string, sent: Record<string, string>) => {
  const answer = await visitor.get(`${where}?${new URLSearchParams(sent)}`)
  expect([answer.status, answer.headers.get("location")]).toEqual([303, where])
  return visitor.get(where)
}

describe("the start of a visit to a partner flow", () => {
  it("removes the refresh token from the URL, and puts the token neither into the cookie nor into the page", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const answer = await visitor.get(`${path}?${new URLSearchParams({ refresh_token: user.refresh })}`)
    expect(answer.status).toBe(303)
    expect(answer.headers.get("location")).toBe(path)
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    const cookie = answer.headers.getSetCookie().join()
    expect(cookie).toMatch(/^svc_visit=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    expect(cookie).not.toContain(user.refresh)
    const page = await visitor.get(path)
    expect(page.status).toBe(200)
    expect(page.text).not.toContain(user.refresh)
    const [row] = await service.sql`select sealed_state from partner_visit where user_id = ${user.id}`
    expect(row?.["sealed_state"]).not.toContain(user.refresh)
  })

  it.each([
    ["an invalid emoji id", { eid: "abc" }],
    ["an invalid address", { addresses: "0x1003=nonsense" }],
    ["a category that is not for addresses", { addresses: "0x0004=https://evil.example" }],
    ["invalid JSON", { address_json: "????" }],
    ["an invalid address in JSON", { address_json: addressJson([{ "0x1003": "nonsense" }]) }],
  ])("with %s shows an error page and does not redirect", async (_what, sent) => {
    for (const where of [path, `${path}/link-email`, `${path}/manage`]) {
      const answer = await service.call("GET", `${where}?${new URLSearchParams(sent)}`)
      expect(answer.status).toBe(400)
      expect(answer.headers.get("location")).toBeNull()
      expect(answer.headers.getSetCookie()).toEqual([])
      expect(answer.text).toContain("Octo Wallet")
    }
  })

  it("shows how many free ids the user has left", async () => {
    const user = await walletUser()
    await service.register(freshId(), user)
    const visitor = makeVisitor(service)
    await enter(visitor, path, { refresh_token: user.refresh })
    const seen = async () => (await visitor.get(path)).text
    expect(await seen()).toContain("You can get one emoji id for free.")
    const limit = (free_limit: number) =>
      service.call("PATCH", `/users/${user.id}`, { token: service.admin.token, body: { free_limit } })
    await limit(3)
    expect(await seen()).toContain("You can get 3 emoji ids for free.")
    await limit(0)
    expect(await seen()).not.toContain("for free")
  })

  it("with a repeated parameter, a damaged URL or a script in the URL shows an error page", async () => {
    for (const bad of [
      "eid=🐙&eid=🐙",
      "eid=%ff",
      `addresses=${encodeURIComponent("<script>alert(1)</script>")}`,
    ]) {
      const answer = await service.call("GET", `${path}?${bad}`)
      expect(answer.status).toBe(400)
      expect(answer.text).not.toContain("<script")
    }
    expect((await service.call("GET", "/partner/unknown")).status).toBe(404)
  })

  it("with addresses does not show them in another flow of the partner or in a flow of another partner", async () => {
    const user = await walletUser()
    await makePartner(service, "rival")
    const visitor = makeVisitor(service)
    await enter(visitor, path, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    for (const where of ["/partner/rival", `${path}/manage`]) {
      const page = await visitor.get(where)
      expect(page.text).toContain('type="email"')
      expect(page.text).not.toContain(bitcoin)
    }
  })
})

describe("getting an id in a partner flow", () => {
  it("returns only to the return link of the partner, not to a URL in the parameters", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const page = await enter(visitor, path, {
      refresh_token: user.refresh,
      redirect_uri: "https://evil.example/",
      return_link: "https://evil.example/",
    })
    const answer = await visitor.submit(page, { action: "abort" })
    expect(answer.status).toBe(302)
    const back = locationOf(answer)
    expect(back.origin).toBe(partner.origin)
    expect(Object.fromEntries(back.searchParams)).toEqual({
      from: "directory",
      action: "create",
      status: "aborted",
      refresh_token: user.refresh,
    })
  })

  it("shows the reason if the requested id is already registered or is not an emoji id", async () => {
    const owner = await service.user()
    const id = freshId()
    await service.register(id, owner)
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const page = await enter(visitor, path, { refresh_token: user.refresh })
    expect((await visitor.get(`${path}?q=${encodeURIComponent(id)}`)).text).toContain(
      "it is already registered",
    )
    const refused = await visitor.submit(page, { action: "choose", emoji_id: id })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain("is already taken")
    expect((await visitor.get(`${path}?q=abc`)).text).toContain("is not a supported emoji")
  })

  it("writes the addresses even if the buyer does not return after the payment", async () => {
    const user = await walletUser()
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const visitor = makeVisitor(service)
    const id = freshId()
    const page = await enter(visitor, path, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    expect((await visitor.submit(page, { action: "choose", emoji_id: id })).status).toBe(303)
    const paying = await visitor.submit(await visitor.get(`${path}?cart`), { action: "card" })
    expect(paying.status).toBe(303)
    const session = locationOf(paying).pathname.split("/").at(-1) ?? ""
    await atSandbox(service, session, "pay")
    const [visit] = await service.sql`select order_id from partner_visit where user_id = ${user.id}`
    await until(
      async () =>
        (await service.sql`select status from entity where id = ${visit?.["order_id"]}`)[0]?.["status"],
      (status) => status === "Paid",
    )
    const order = await service.call("GET", `/orders/${visit?.["order_id"]}`, { token: user.token })
    expect(order.body.organization_id).toBe(partner.id)
    // The payment is moved to the past, because addresses are written only some time after it.
    await service.sql`update entity set updated_at = now() - interval '1 hour' where id = ${visit?.["order_id"]}`
    const { body } = await until(
      () => service.lookup(id),
      (answer) => JSON.stringify(answer.body).includes(bitcoin),
    )
    expect(JSON.stringify(body)).toContain(bitcoin)
  })

  it("adds the id to the cart once if the form is sent twice, and hides the order from other users", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const id = freshId()
    const page = await enter(visitor, path, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    await visitor.submit(page, { action: "choose", emoji_id: id })
    await visitor.submit(page, { action: "choose", emoji_id: id })
    const cart = await visitor.get(`${path}?cart`)
    expect(cart.text.split("Remove</button>").length - 1).toBe(1)
    const done = await visitor.submit(cart, { action: "free" })
    expect(locationOf(done).searchParams.get("eid")).toBe(id)
    const [order] = await service.sql`select id from entity where kind = 'order' and owner_id = ${user.id}`
    const again = await visitor.get(`${path}/paid?order=${order?.["id"]}`)
    expect(locationOf(again).searchParams.get("eid")).toBe(id)
    const stranger = makeVisitor(service)
    const other = await walletUser()
    await enter(stranger, path, { refresh_token: other.refresh })
    expect((await stranger.get(`${path}/paid?order=${order?.["id"]}`)).status).toBe(404)
  })

  it("offers to keep the id that the partner sent if the user already owns the id, and adds the addresses", async () => {
    const user = await walletUser()
    const id = freshId()
    await service.register(id, user)
    const visitor = makeVisitor(service)
    const sent = { refresh_token: user.refresh, eid: id, addresses: `0x1003=${otherBitcoin}` }
    const page = await enter(visitor, path, sent)
    expect(page.text).toContain("You already own this emoji id")
    const done = await visitor.submit(page, { action: "keep" })
    expect(locationOf(done).searchParams.get("eid")).toBe(id)
    expect(JSON.stringify((await service.lookup(id)).body)).toContain(otherBitcoin)
  })
})

describe("a form that connects an id or adds a record", () => {
  it("is accepted only for ids of the logged-in user", async () => {
    const owner = await service.user()
    const mine = freshId()
    await service.register(mine, owner)
    const stranger = await service.user()
    const theirs = freshId()
    await service.register(theirs, stranger)
    const visitor = makeVisitor(service)
    const where = `${path}/link-email`
    await enter(visitor, where, { addresses: `0x1003=${bitcoin}` })
    const page = await logInByMail(service, visitor, where, owner.email)
    const refused = await visitor.submit(page, { action: "connect", emoji_id: theirs })
    expect(refused.status).toBe(422)
    expect(JSON.stringify((await service.lookup(theirs)).body)).not.toContain(bitcoin)
    const done = await visitor.submit(page, { action: "connect", emoji_id: mine })
    expect(locationOf(done).searchParams.get("eid")).toBe(mine)
    expect(JSON.stringify((await service.lookup(mine)).body)).toContain(bitcoin)
    const manage = await visitor.get(`${path}/manage?id=${encodeURIComponent(theirs)}`)
    expect(manage.text).not.toContain("Add a record")
  })

  it("is refused with 403 if its form token is forged", async () => {
    const user = await walletUser()
    const id = freshId()
    await service.register(id, user)
    const visitor = makeVisitor(service)
    const page = await enter(visitor, `${path}/manage`, { refresh_token: user.refresh })
    const forged = { form_token: "forged" }
    const fields = { action: "add", emoji_id: id, tag: "0x1003", data: bitcoin }
    expect((await visitor.submit(page, fields, forged)).status).toBe(403)
    expect((await visitor.submit(page, fields)).status).toBe(303)
  })
})

describe("a user with two-factor authentication", () => {
  it("must enter a new code before a checkout in a partner flow, and the wallet's refresh token stays valid", async () => {
    const strict = await serveDirectory({}, { peersPossible: true })
    const wallet = await makePartner(strict, "strict")
    const person = await register(strict)
    await strict.sql`update app_user set email_verified_at = now() where id = ${person.id}`
    const { backupCodes, secret } = await turnOnTotp(strict, person.token)
    const pending = (await login(strict, person.email, password)).body.refresh_token
    const { body: tokens } = await strict.call("POST", "/auth/2fa", {
      body: { refresh_token: pending, code: totpCode(secret) },
    })
    await endGrace(strict, person.id)
    const visitor = makeVisitor(strict)
    const where = "/partner/strict"
    const page = await enter(visitor, where, { refresh_token: tokens.refresh_token })
    const id = freshId()
    await visitor.submit(page, { action: "choose", emoji_id: id })
    const asked = await visitor.submit(await visitor.get(`${where}?cart`), { action: "free" })
    expect(asked.text).toContain("Enter your code to buy")
    const wrong = await visitor.submit(asked, { action: "prove", method: "free", code: "0000-0000" })
    expect(wrong.status).toBe(422)
    const proof = { action: "prove", method: "free", code: backupCodes[0] ?? "" }
    const done = await visitor.submit(asked, proof)
    expect(locationOf(done).origin).toBe(wallet.origin)
    expect(Object.fromEntries(locationOf(done).searchParams)).toMatchObject({
      eid: id,
      refresh_token: tokens.refresh_token,
    })
    const refreshed = await strict.call("POST", "/auth/token/refresh", {
      body: { refresh_token: tokens.refresh_token },
    })
    expect(refreshed.status).toBe(200)
  })
})

import { describe, expect, it } from "vitest"
import { login, register, turnOnTotp } from "../accounts/person.ts"
import { bitcoin, ethereum, serveDirectory } from "../directory/directory-service.ts"
import { freshId } from "../orders/shopper.ts"
import { addressJson, makePartner, makeWalletUser } from "../partners/partner.ts"
import { locationOf, logInByMail, makeVisitor, type Visitor } from "../sign-in/oauth/application.ts"

const service = await serveDirectory()
await makePartner(service)
const path = "/partner/octo"
const flows = [path, `${path}/link-email`, `${path}/manage`]

let devices = 0
const walletUser = () => makeWalletUser(service, `client-${++devices}`)
/** A user with an email, who owns an id and can log in on the site. */
const owner = async () => {
  const user = await service.user()
  const id = freshId()
  await service.register(id, user)
  return { ...user, eid: id }
}
const enter = async (visitor: Visitor, where: string, query: string) => {
  const answer = await visitor.get(`${where}?${query}`)
  expect([answer.status, answer.headers.get("location")]).toEqual([303, where])
  return visitor.get(where)
}
const parametersOf = (answer: Parameters<typeof locationOf>[0]) =>
  Object.fromEntries(locationOf(answer).searchParams)
const recordsOf = async (id: string): Promise<ReadonlyArray<{ tag: string; data: string }>> =>
  (await service.lookup(id)).body.result

const chainKey = "1a".repeat(32)
const otherKey = "5f".repeat(32)
const base58Key = "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK"

const fiftyOne = Array.from({ length: 51 }, (_, i) => `0x6200=address${i}`).join("|")

describe("the links of wallets that send to chain public keys", () => {
  // As the Android library sends it: everything unencoded, tags in the letter case of the library.
  const unencoded = `addresses=0x0101=${chainKey}|0x0103=${otherKey}|0x0104=${base58Key}|0x106E=4AdUndXHHZ`
  // As the iOS library sends it: the pipe is percent-encoded, the equals sign is not.
  const encoded = unencoded.replaceAll("|", "%7C").replace("0x0101", "0X0101")

  it.each(flows)("show the keys and the addresses in %s", async (where) => {
    const user = await walletUser()
    const { refresh } = await walletUser()
    await service.register(freshId(), user)
    for (const addresses of [unencoded, encoded]) {
      const visitor = makeVisitor(service)
      const token = where === path ? refresh : user.refresh
      const page = await enter(visitor, where, `${addresses}&refresh_token=${token}`)
      expect(page.status).toBe(200)
      for (const shown of [chainKey, otherKey, base58Key, "4AdUndXHHZ"]) expect(page.text).toContain(shown)
    }
  })

  it("write the keys to the id that the user gets", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const id = freshId()
    const page = await enter(visitor, path, `${unencoded}&refresh_token=${user.refresh}`)
    await visitor.submit(page, { action: "choose", emoji_id: id })
    await visitor.submit(await visitor.get(`${path}?cart`), { action: "free" })
    const records = await recordsOf(id)
    for (const [tag, data] of [
      ["0x0101", chainKey],
      ["0x0103", otherKey],
      ["0x0104", base58Key],
      ["0x106e", "4AdUndXHHZ"],
    ])
      expect(records).toContainEqual(expect.objectContaining({ tag, data }))
  })

  it("may name the wallet in address_json, with hex or decimal tags", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const json = addressJson([
      { "0x0101": `${chainKey}|My wallet` },
      { "259": otherKey },
      { "0x0104": `${base58Key}|My wallet` },
      { "0x1003": `${bitcoin}|Savings` },
    ])
    const page = await enter(visitor, path, `address_json=${json}&refresh_token=${user.refresh}`)
    for (const shown of [chainKey, otherKey, base58Key, "Savings"]) expect(page.text).toContain(shown)
  })

  it("with a key that is not hex show a page that names the tag", async () => {
    const answer = await service.call("GET", `${path}?addresses=0x0101=xyz`)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain("0x0101")
  })
})

describe("a partner link", () => {
  it.each([
    ["a trailing pipe", `addresses=0x1003%3D${bitcoin}%7C`],
    ["empty pairs", `addresses=%7C%7C0x1003=${bitcoin}%7C%7C`],
    ["upper-case hex", `addresses=0X1003=${bitcoin}`],
    [
      "Base64 with the URL-safe alphabet and without padding",
      `address_json=${Buffer.from(JSON.stringify([{ "0x1003": `${bitcoin}|??>>~~ü` }])).toString("base64url")}`,
    ],
    [
      "Base64 with unencoded plus signs",
      `address_json=${addressJson([{ "0x1003": `${bitcoin}|>>>???~~~` }])}`,
    ],
  ])("with %s shows the addresses", async (_what, query) => {
    const user = await walletUser()
    const page = await enter(makeVisitor(service), path, `${query}&refresh_token=${user.refresh}`)
    expect(page.text).toContain(bitcoin)
  })

  it.each([
    ["a tag without 0x", `addresses=1003=${bitcoin}`, "not a valid tag"],
    ["an unknown tag", "addresses=0x4301=abc", "not a tag for addresses"],
    ["a tag that is not for addresses", "addresses=0x0000=abc", "not a tag for addresses"],
    ["a pair without an address", "addresses=0x1003=", "must not be empty"],
    ["a pair without a tag", `addresses==${bitcoin}`, "form TAG=ADDRESS"],
    ["addresses that are encoded twice", `addresses=0x1003%253D${bitcoin}%257C`, "percent-encoded twice"],
    ["more than 50 addresses", `addresses=${fiftyOne}`, "at most 50"],
    ["an address of more bytes than a record may have", `addresses=0x1001=${"a".repeat(5000)}`, "not valid"],
    ["invalid UTF-8", "addresses=0x1003=%ff%fe", "damaged"],
    ["an incomplete percent sign", "addresses=0x1003=%", "damaged"],
    [
      "Base64 of invalid UTF-8",
      `address_json=${Buffer.from([0x5b, 0xff, 0x5d]).toString("base64")}`,
      "Base64",
    ],
    ["JSON that is not encoded", `address_json=${encodeURIComponent('[{"0x1003":"x"}]')}`, "Base64"],
    ["Base64 of an object", `address_json=${Buffer.from("{}").toString("base64")}`, "JSON array"],
    [
      "an item with two members",
      `address_json=${addressJson([{ "0x1003": bitcoin, "0x1004": "x" }])}`,
      "one member",
    ],
    ["an emoji id that is not one", "eid=undefined", "emoji id"],
    ["an id of the partner that is too long", `partner_transaction_id=${"x".repeat(257)}`, "at most 256"],
  ])("with %s shows a page with the reason in every flow", async (_what, query, reason) => {
    for (const where of flows) {
      const answer = await service.call("GET", `${where}?${query}`)
      expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"])
      expect(answer.text).toContain("Octo Wallet")
      expect(answer.text).toContain(reason)
    }
  })

  it("that is too long for any server is refused without a redirect", async () => {
    const answer = await service.call("GET", `${path}?addresses=${"x".repeat(100_000)}`)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
  })
})

describe("a link with a refresh token that cannot be used", () => {
  const replaced = async () => {
    const { refresh } = await walletUser()
    await service.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })
    return refresh
  }
  const loggedOut = async () => {
    const user = await walletUser()
    await service.call("POST", "/logout", { token: user.token })
    return user.refresh
  }
  const pending = async () => {
    const person = await register(service)
    await turnOnTotp(service, person.token)
    return (await login(service, person.email)).body.refresh_token as string
  }

  it.each([
    ["was replaced", replaced, "has expired or was replaced"],
    ["belongs to an ended session", loggedOut, "has expired or was replaced"],
    ["is not a token", async () => "made-up", "has expired or was replaced"],
    ["waits for a two-factor code", pending, "still needs a two-factor code"],
  ])("because it %s leads to the login page in every flow", async (_what, tokenOf, reason) => {
    const token = await tokenOf()
    for (const where of flows) {
      const visitor = makeVisitor(service)
      const page = await enter(visitor, where, `refresh_token=${token}&addresses=0x1003=${bitcoin}`)
      expect(page.status).toBe(200)
      expect(page.text).toContain('type="email"')
      expect(page.text).toContain(reason)
      expect(page.text).not.toContain(token)
    }
  })

  it("continues with its addresses after the login, and returns the token that was sent", async () => {
    const token = await replaced()
    const user = await owner()
    const visitor = makeVisitor(service)
    const where = `${path}/link-email`
    await enter(visitor, where, `refresh_token=${token}&addresses=0x1003=${bitcoin}`)
    const page = await logInByMail(service, visitor, where, user.email)
    expect(page.text).toContain(bitcoin)
    const done = await visitor.submit(page, { action: "connect", emoji_id: user.eid })
    expect(parametersOf(done)).toEqual({
      from: "directory",
      action: "connect",
      eid: user.eid,
      eids: user.eid,
      refresh_token: token,
    })
    expect(await recordsOf(user.eid)).toContainEqual(expect.objectContaining({ data: bitcoin }))
  })

  it("leads to the login page also if the session ends during the visit", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    await enter(visitor, path, `refresh_token=${user.refresh}&addresses=0x1003=${bitcoin}`)
    await service.call("POST", "/logout", { token: user.token })
    expect((await visitor.get(path)).status).toBe(303)
    expect((await visitor.get(path)).text).toContain("has expired or was replaced")
    const { email } = await owner()
    expect((await logInByMail(service, visitor, path, email)).text).toContain(bitcoin)
  })
})

describe("the return to the partner", () => {
  it.each([
    [path, "create"],
    [`${path}/link-email`, "connect"],
    [`${path}/manage`, "manage"],
  ])("from %s carries action=%s also if the user cancels, and then no eid", async (where, action) => {
    const visitor = makeVisitor(service)
    const page = await enter(visitor, where, "refresh_token=old-token")
    const back = await visitor.submit(page, { action: "abort" })
    expect(back.status).toBe(302)
    expect(parametersOf(back)).toEqual({
      from: "directory",
      action,
      status: "aborted",
      refresh_token: "old-token",
    })
  })

  it("names the first purchased id as eid and all of them as eids, in a URL that clients can parse", async () => {
    const user = await walletUser()
    await service.sql`update app_user set free_limit = 3 where id = ${user.id}`
    const visitor = makeVisitor(service)
    const ids = [freshId(), freshId(), freshId()]
    const page = await enter(visitor, path, `refresh_token=${user.refresh}`)
    for (const id of ids) await visitor.submit(page, { action: "choose", emoji_id: id })
    const done = await visitor.submit(await visitor.get(`${path}?cart`), { action: "free" })
    expect(parametersOf(done)).toEqual({
      from: "directory",
      action: "create",
      eid: ids[0],
      eids: ids.join(","),
      refresh_token: user.refresh,
    })
    // Clients on phones parse the URL strictly: it contains only ASCII, and each parameter once.
    const location = done.headers.get("location") ?? ""
    expect(location).toMatch(/^[\x21-\x7e]+$/)
    expect(location).toContain(`eids=${ids.map(encodeURIComponent).join("%2C")}`)
  })

  it("keeps an action that the return link has, and the deep link of an app", async () => {
    await makePartner(service, "deep", "wallet://done?action=custom")
    const visitor = makeVisitor(service)
    const page = await enter(visitor, "/partner/deep", "refresh_token=old-token")
    const back = await visitor.submit(page, { action: "abort" })
    expect(back.headers.get("location")).toBe(
      "wallet://done?action=custom&status=aborted&refresh_token=old-token",
    )
  })

  it("from the page of managed ids is a link with action=manage", async () => {
    const user = await walletUser()
    await service.register(freshId(), user)
    const page = await enter(makeVisitor(service), `${path}/manage`, `refresh_token=${user.refresh}`)
    expect(page.text).toContain("from=directory&amp;action=manage")
  })
})

describe("the path /create of older wallets", () => {
  it("below a partner starts flow 1 with the parameters, and the token is in no further URL", async () => {
    const user = await walletUser()
    const visitor = makeVisitor(service)
    const sent = `refresh_token=${user.refresh}&addresses=0x1003=${bitcoin}`
    const answer = await visitor.get(`${path}/create?${sent}`)
    expect([answer.status, answer.headers.get("location")]).toEqual([303, path])
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer")
    expect((await visitor.get(path)).text).toContain(bitcoin)
  })

  it("below a partner keeps other parameters, and is 404 for an unknown partner", async () => {
    const answer = await service.call("GET", `${path}/create?q=${encodeURIComponent("🐙🌊")}`)
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      `${path}?q=${encodeURIComponent("🐙🌊")}`,
    ])
    expect((await service.call("GET", `${path}/create`)).headers.get("location")).toBe(path)
    expect((await service.call("GET", "/partner/unknown/create")).status).toBe(404)
    expect((await service.call("GET", `${path}/create?eid=abc`)).status).toBe(400)
  })

  it("redirects to the search of the console with the id, and drops the refresh token", async () => {
    const id = encodeURIComponent("🐙🌊")
    const cases: ReadonlyArray<readonly [string, string]> = [
      ["/create", "/#/market"],
      [`/create?eid=${id}`, `/#/market/${id}`],
      [`/create?eid=${id}&refresh_token=secret&addresses=0x1003=${bitcoin}`, `/#/market/${id}`],
      ["/create?eid=abc", "/#/market"],
      ["/create?eid=%ff", "/#/market"],
    ]
    for (const [address, location] of cases) {
      const answer = await service.call("GET", address)
      expect([answer.status, answer.headers.get("location")]).toEqual([303, location])
    }
  })
})

describe("the ids that a partner gives to its users", () => {
  const account = async (token: string) => (await service.call("GET", "/account", { token })).body
  const registerUser = async (body: Record<string, string>) => {
    const alternate_id = `client-${++devices}`
    const password = "a wallet makes long passwords"
    const made = await service.call("POST", "/users", { body: { alternate_id, password, ...body } })
    expect(made.status).toBe(200)
    return { token: made.body.access_token as string, refresh: made.body.refresh_token as string }
  }

  it("are stored at the registration and returned unchanged", async () => {
    const { token } = await registerUser({
      partner_conversion_id: "conversion 1/ü",
      partner_transaction_id: "transaction-1",
    })
    const current = await account(token)
    expect(current.partner_transaction_id).toBe("transaction-1")
    expect(current.user).toMatchObject({
      partner_conversion_id: "conversion 1/ü",
      partner_transaction_id: "transaction-1",
    })
    const loaded = await service.call("GET", "/account/load", { token })
    expect(loaded.body.partner_transaction_id).toBe("transaction-1")
    expect(loaded.body.current_user.partner_transaction_id).toBe("transaction-1")
    const renamed = await service.call("PATCH", "/account", { token, body: { first_name: "Ada" } })
    expect(renamed.body.partner_transaction_id).toBe("transaction-1")
  })

  it("are the conversion id if a client sends only this one, and absent if it sends none", async () => {
    const { token } = await registerUser({ partner_conversion_id: "conversion-2" })
    expect((await account(token)).partner_transaction_id).toBe("conversion-2")
    const plain = await account((await registerUser({})).token)
    expect(Object.keys(plain)).not.toContain("partner_transaction_id")
    expect(Object.keys(plain.user)).not.toContain("partner_conversion_id")
  })

  it("are stored from a link that has the user's token", async () => {
    const { refresh, token } = await registerUser({})
    await account(token)
    await enter(makeVisitor(service), path, `refresh_token=${refresh}&partner_transaction_id=visit-1`)
    expect((await account(token)).partner_transaction_id).toBe("visit-1")
  })

  it("are stored from a link without a valid token only when the user completes the flow", async () => {
    const user = await owner()
    const visitor = makeVisitor(service)
    const where = `${path}/link-email`
    await enter(visitor, where, "refresh_token=old-token&partner_transaction_id=visit-2")
    const page = await logInByMail(service, visitor, where, user.email)
    expect((await account(user.token)).partner_transaction_id).toBeUndefined()
    await visitor.submit(page, { action: "connect", emoji_id: user.eid })
    expect((await account(user.token)).partner_transaction_id).toBe("visit-2")
  })

  it("are removed with the account", async () => {
    const { token } = await registerUser({ partner_conversion_id: "conversion-3" })
    const { id } = (await account(token)).user
    expect((await service.call("DELETE", `/users/${id}`, { token: service.admin.token })).status).toBe(200)
    const [row] = await service.sql`select partner_conversion_id from app_user where id = ${id}`
    expect(row).toEqual({ partner_conversion_id: null })
  })
})

it("an Ethereum address in a link is accepted with and without 0x", async () => {
  const user = await walletUser()
  for (const address of [ethereum, ethereum.slice(2)]) {
    const page = await enter(
      makeVisitor(service),
      path,
      `addresses=0x1004%3D${address}&refresh_token=${user.refresh}`,
    )
    expect(page.text).toContain(ethereum.slice(2).toLowerCase())
  }
})

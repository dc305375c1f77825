import { expect, it } from "vitest"
import { login, mails, register } from "../../accounts/person.ts"
import { freshId } from "../../orders/shopper.ts"
import { makePartner } from "../../partners/partner.ts"
import {
  authorizeAddress,
  locationOf,
  logInByMail,
  makeVisitor,
  registerApplication,
  tokenCall,
  type Visitor,
} from "./application.ts"
import { startOauthService } from "./oauth-service.ts"

const { service, app, codeFor, owner } = await startOauthService()

/**
 * Creates an OAuth client that the test deletes, and a user of this client. `trade` exchanges the user's code for
 * tokens. `list` uses the access token.
 */
const startGrant = async (organizationId?: string) => {
  const client = await registerApplication(service, "https://client.example/cb", "Client", organizationId)
  const user = await owner(1)
  const visitor = makeVisitor(service)
  await logInByMail(service, visitor, authorizeAddress(client), user.email)
  const newCode = async () =>
    locationOf(await visitor.get(authorizeAddress(client))).searchParams.get("code") ?? ""
  const first = await newCode()
  const trade = () =>
    tokenCall(service, {
      grant_type: "authorization_code",
      code: first,
      redirect_uri: client.redirectUri,
      client_id: client.clientId,
      client_secret: client.secret,
    })
  const { body } = await trade()
  const list = () => service.call("GET", "/emoji_id", { token: body.access_token })
  return {
    client,
    user,
    code: newCode,
    tokens: body,
    trade,
    list,
    admin: await service.user({ role: "Admin" }),
  }
}

it("the tokens of an OAuth client are revoked when the client is deleted", async () => {
  const { admin, client, list } = await startGrant()
  expect((await list()).status).toBe(200)
  const deleted = await service.call("DELETE", `/oauth_clients/${client.clientId}`, { token: admin.token })
  expect(deleted.status).toBe(200)
  expect(deleted.body).not.toHaveProperty("user_ids")
  expect((await list()).status).toBe(401)
})

it("a user lists the applications with access and ends it: the tokens and the code that is not exchanged yet stop working", async () => {
  const { client, code, list, tokens, user } = await startGrant()
  const applications = () => service.call("GET", "/account/applications", { token: user.token })
  const { body } = await applications()
  expect(body).toEqual([
    {
      client_id: client.clientId,
      name: "Client",
      emoji_ids: user.ids,
      scopes: ["userEmoji:list"],
      granted_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: expect.any(String),
    },
  ])
  expect((await list()).status).toBe(200)
  const waiting = await code()

  const path = `/account/applications/${client.clientId}`
  const stranger = await service.user()
  expect((await service.call("DELETE", path, { token: stranger.token })).status).toBe(404)
  expect((await list()).status).toBe(200)
  expect((await service.call("DELETE", path, { token: user.token })).status).toBe(200)
  expect((await list()).status).toBe(401)
  const credentials = { client_id: client.clientId, client_secret: client.secret }
  for (const form of [
    { grant_type: "refresh_token", refresh_token: tokens.refresh_token },
    { grant_type: "authorization_code", code: waiting, redirect_uri: client.redirectUri },
  ])
    expect((await tokenCall(service, { ...form, ...credentials })).body.error).toBe("invalid_grant")
  expect((await applications()).body).toEqual([])
  expect((await service.call("DELETE", path, { token: user.token })).status).toBe(404)
  const log = await service.call("GET", "/account/security_log", { token: user.token })
  expect(log.body.data[0]).toMatchObject({ event: "application.revoked", details: { name: "Client" } })
})

it("the tokens of an organization's OAuth clients are revoked when the organization is deleted", async () => {
  const { token } = await service.user({ role: "Admin" })
  const made = await service.call("POST", "/organizations", { token, body: { name: "Client Co" } })
  const { list } = await startGrant(made.body.id)
  expect((await list()).status).toBe(200)
  const deleted = await service.call("DELETE", `/organizations/${made.body.id}`, { token })
  expect(deleted.status).toBe(200)
  expect((await list()).status).toBe(401)
})

it.each(["oauth_client", "organization"])(
  "a DELETE of an %s that no longer exists returns 404 and still revokes the OAuth client's tokens",
  async (what) => {
    const { token } = await service.user({ role: "Admin" })
    const made = await service.call("POST", "/organizations", { token, body: { name: "Lost Co" } })
    const { client, list } = await startGrant(made.body.id)
    expect((await list()).status).toBe(200)
    // The row is deleted directly in the database. This simulates a first attempt whose response was lost. The second
    // attempt finds no row.
    const [id, column] =
      what === "organization" ? [made.body.id, "id"] : ([client.clientId, "client_id"] as const)
    await service.sql`delete from ${service.sql(what)} where ${service.sql(column)} = ${id}`
    expect((await service.call("DELETE", `/${what}s/${id}`, { token })).status).toBe(404)
    expect((await list()).status).toBe(401)
  },
)

it("tokens that were revoked because their code was used twice stay revoked after the OAuth client is deleted", async () => {
  const { admin, client, list, trade, user } = await startGrant()
  expect((await trade()).status).toBe(400)
  expect((await list()).status).toBe(401)
  await service.call("DELETE", `/oauth_clients/${client.clientId}`, { token: admin.token })
  // Any change of the user makes the process reload the user, for example a new free limit.
  await service.call("PATCH", `/users/${user.id}`, { token: admin.token, body: { free_limit: 3 } })
  expect((await list()).status).toBe(401)
})

it("a request to the token endpoint requires the client secret, even if it repeats an Idempotency-Key", async () => {
  const { code } = await codeFor()
  const form = { grant_type: "authorization_code", code, redirect_uri: app.redirectUri }
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${app.clientId}:${secret}`).toString("base64")}`,
    "idempotency-key": "exchange-1",
  })
  expect((await tokenCall(service, form, basic(app.secret))).status).toBe(200)
  const stranger = await tokenCall(service, form, basic("svcs_wrong"))
  expect(stranger.status).toBe(401)
})

it("an API key without the required scope gets 403, even with the Idempotency-Key of an earlier allowed request", async () => {
  const user = await service.user()
  const make = async (scopes: ReadonlyArray<string>) =>
    (await service.call("POST", "/api_keys", { token: user.token, body: { name: "k", scopes } })).body.api_key
  const wide = await make(["cart:update"])
  const narrow = await make(["userInterest:read"])
  const put = (key: string) =>
    service.call("POST", "/cart", {
      body: { items: [{ emoji_id: put.id }] },
      headers: { "x-api-key": key, "idempotency-key": "cart-1" },
    })
  put.id = freshId()
  expect((await put(wide)).status).toBe(200)
  expect((await put(narrow)).status).toBe(403)
})

it("a person who registers an email address without confirming it cannot see or end transfers to this address", async () => {
  const sender = await owner(1)
  const email = `invited-${Date.now()}@example.com`
  const begun = await service.call("POST", "/transfers", {
    token: sender.token,
    body: { eid: sender.ids[0], email, message: "for your eyes only" },
  })
  expect(begun.status).toBe(200)
  const code = (await mails(service, sender.email)).find((mail) => mail.code)?.code
  const accepted = await service.call("POST", `/transfers/${begun.body.id}/sender_accept`, {
    token: sender.token,
    body: { code },
  })
  expect(accepted.status).toBe(200)
  const stranger = await service.call("POST", "/users", { body: { email } })
  const seen = await service.call("GET", "/transfers/incoming", { token: stranger.body.access_token })
  expect(seen.text).not.toContain("for your eyes only")
  const ended = await service.call("DELETE", `/transfers/${begun.body.id}`, {
    token: stranger.body.access_token,
  })
  expect(ended.status).not.toBe(200)
})

it("a request without the cookie gets no session, even with the Idempotency-Key of a request that had the cookie", async () => {
  const { visitor } = await codeFor()
  const headers = { "sec-fetch-site": "same-origin", "idempotency-key": "console-1" }
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
  const mine = await service.call("POST", "/console/session", { headers: { ...headers, cookie } })
  expect(mine.status).toBe(200)
  const stranger = await service.call("POST", "/console/session", { headers })
  expect(stranger.body).not.toHaveProperty("refresh_token")
  expect(stranger.status).toBe(404)
})

const openMailed = async (visitor: ReturnType<typeof makeVisitor>, email: string) => {
  const link = new URL((await mails(service, email))[0]?.link ?? "")
  return visitor.get(link.pathname + link.search)
}

it("an emailed link can still remove the account's password after a login by a refresh token in a partner URL", async () => {
  const { path } = await makePartner(service, "lured")
  const attacker = await register(service)
  const visitor = makeVisitor(service)
  await visitor.get(`/partner/${path}?refresh_token=${attacker.refresh}`)

  const page = await openMailed(visitor, attacker.email)
  expect(page.text).toContain("The password you registered with")
  expect((await visitor.submit(page, { action: "discard" })).status).toBe(303)
  expect((await login(service, attacker.email)).status).toBe(401)
  expect((await service.call("GET", "/account", { token: attacker.token })).status).toBe(401)
})

it("an emailed link can still remove the account's password after a login by a refresh token in a /magic_link URL", async () => {
  const attacker = await register(service)
  const visitor = makeVisitor(service)
  const handed = await visitor.get(`/magic_link?refresh_token=${attacker.refresh}`)
  const asked = await visitor.get(locationOf(handed).pathname)
  expect((await visitor.submit(asked, { action: "use" })).status).toBe(303)

  const page = await openMailed(visitor, attacker.email)
  expect(page.text).toContain("The password you registered with")
  expect((await visitor.submit(page, { action: "discard" })).status).toBe(303)
  expect((await login(service, attacker.email)).status).toBe(401)
  expect((await visitor.get("/magic_link/done")).text).toContain("Do you want a password?")
})

it("a user who requests a confirmation link during a partner flow stays logged in and can finish the flow", async () => {
  const { path } = await makePartner(service, "mailing")
  const user = await register(service)
  const visitor = makeVisitor(service)
  await visitor.get(`/partner/${path}?refresh_token=${user.refresh}`)
  const search = await visitor.get(`/partner/${path}`)
  await visitor.submit(search, { action: "choose", emoji_id: freshId() })
  const refused = await visitor.submit(await visitor.get(`/partner/${path}?cart`), { action: "free" })
  expect(refused.text).toContain("Email me a confirmation link")
  expect((await visitor.submit(refused, { action: "confirm" })).status).toBe(200)

  const page = await openMailed(visitor, user.email)
  expect(page.text).not.toContain("password")
  const used = await visitor.submit(page, { action: "use" })
  expect(locationOf(used).pathname).toBe(`/partner/${path}`)
  const bought = await visitor.submit(await visitor.get(`/partner/${path}?cart`), { action: "free" })
  expect(locationOf(bought).searchParams.get("refresh_token")).toBe(user.refresh)
})

it("if a newer partner link sends other addresses, the button of the older page shows these addresses and does not write them", async () => {
  const { home } = await makePartner(service, "meanwhile")
  const where = `${home}/link-email`
  const user = await owner(1)
  const [id = ""] = user.ids
  const bring = (visitor: Visitor, bitcoin: string) => visitor.get(`${where}?addresses=0x1003%3D${bitcoin}`)
  const visitor = makeVisitor(service)
  await bring(visitor, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2")
  const page = await logInByMail(service, visitor, where, user.email)
  expect(page.text).toContain("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2")

  await bring(visitor, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
  const pressed = await visitor.submit(page, { action: "connect", emoji_id: id })
  expect(JSON.stringify((await service.lookup(id)).body)).not.toContain("bc1q")
  const shown = await visitor.get(locationOf(pressed).pathname)
  expect(shown.text).toContain("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
  await visitor.submit(shown, { action: "connect", emoji_id: id })
  expect(JSON.stringify((await service.lookup(id)).body)).toContain("bc1q")
})

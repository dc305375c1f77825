import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { createClient } from "../../src/client/client.ts"
import { password, register } from "../accounts/person.ts"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { until } from "./until.ts"

const service = await serveDirectory()

/** Opens a page of a logged-in user that subscribes to the cart and stores the tokens. */
const openPage = async (request: typeof fetch = fetch) => {
  const { refresh, token } = await register(service)
  const page = { kept: refresh as string | undefined, carts: 0, statuses: Array.of<string>() }
  const client = createClient({
    baseUrl: service.url,
    WebSocket,
    fetch: request,
    refreshToken: refresh,
    accessToken: token,
    onLiveStatus: (status) => void page.statuses.push(status),
    onTokens: (tokens) => {
      page.kept = tokens?.refreshToken
    },
  })
  cleanUp(() => client.live.close())
  client.live.subscribe("cart", { state: () => void page.carts++, event: () => void page.carts++ })
  await until(() => page.carts === 1)
  return { client, page, token }
}

type Page = Awaited<ReturnType<typeof openPage>>

it.each([
  ["is unreachable", () => Promise.reject(new TypeError("fetch failed"))],
  ["answers 503", () => Promise.resolve(new Response(null, { status: 503 }))],
])("`logOut` rejects when the service %s, but still ends the login in this client", async (_how, answer) => {
  const { client, page, token } = await openPage((input, init) =>
    String(input).endsWith("/logout") ? answer() : fetch(input, init),
  )
  await expect(client.logOut()).rejects.toThrow()
  expect(page.kept).toBeUndefined()
  await expect(client.call("GET /account")).rejects.toMatchObject({ status: 401 })
  expect(client.live.status).toBe("logged_out")
  // The session still exists at the service, but this page must not receive its events.
  await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐢🎬🐢🎬" }] } })
  expect(await client.live.lookup(["🐢"])).toHaveLength(1)
  expect(page.carts).toBe(1)
})

it("a page can look up ids after a logout, and no longer stores a token", async () => {
  const { client, page } = await openPage()
  await client.logOut()
  await until(() => client.live.status === "logged_out")
  expect(page.kept).toBeUndefined()
  expect(await client.live.lookup(["🐢"])).toHaveLength(1)
})

it("a logout with an expired access token still ends the session at the service", async () => {
  let isEnded = true
  const { client, page } = await openPage((input, init) => {
    const headers = new Headers(init?.headers)
    if (isEnded && String(input).endsWith("/logout")) {
      headers.set("authorization", "Bearer ended")
      isEnded = false
    }
    return fetch(input, { ...init, headers })
  })
  const { kept } = page
  await client.logOut()
  const again = await service.call("POST", "/auth/token/refresh", { body: { refresh_token: kept } })
  expect(again.status).toBe(401)
})

it("`logOutHere` ends the session of this client, and another device of the user stays logged in", async () => {
  const { client, page, token } = await openPage()
  const { email } = (await client.call("GET /account")).user
  const login = await service.call("POST", "/auth/token", { body: { email, password } })
  const other = createClient({ baseUrl: service.url })
  other.useLogin(login.body)
  await client.logOutHere()
  expect(page.kept).toBeUndefined()
  expect((await service.call("GET", "/account", { token })).status).toBe(401)
  expect((await other.call("GET /account")).user.email).toBe(email)
})

it.each([
  ["by its own logout", "🐢🎬", ({ client }: Page) => client.logOut()],
  ["by a logout elsewhere", "🎬🐢", ({ token }: Page) => service.call("POST", "/logout", { token })],
])(
  "a page whose login ends %s still receives changes of a watched id, and the cart after the next login",
  async (_where, id, end) => {
    const owner = await service.user()
    await service.register(id, owner)
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const opened = await openPage()
    const { client, page } = opened
    const addresses: Array<string | undefined> = []
    client.watchId(id, ({ result }) => void addresses.push(result[0]?.data))
    await until(() => addresses.at(-1) === bitcoin)
    await end(opened)
    await until(() => page.statuses.includes("logged_out"))
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: otherBitcoin }] })
    await until(() => addresses.at(-1) === otherBitcoin)
    expect(await client.live.lookup([id])).toMatchObject([{ status: true }])
    expect(page.carts).toBe(1)
    await client.logIn({ email: (await register(service)).email, password })
    await until(() => page.carts === 2)
  },
)

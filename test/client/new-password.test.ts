import { beforeAll, expect, it } from "vitest"
import { password, register } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { type ClientOptions, openClient } from "./real-client.ts"
import { until } from "./until.ts"

const newPassword = "a new horse and a new battery"
let service: TestService

beforeAll(async () => {
  service = await serve()
})

const newClient = (options?: ClientOptions) => openClient(service, options)
const changePassword = (client: ReturnType<typeof openClient>) =>
  client.call("PATCH /account", { body: { password: newPassword, current_password: password } })

it("a user who changes the password stays logged in and gets new tokens", async () => {
  const { email } = await register(service)
  const kept: Array<string | undefined> = []
  const client = newClient({ onTokens: (tokens) => void kept.push(tokens?.refreshToken) })
  await client.logIn({ email, password })
  await changePassword(client)
  expect((await client.call("GET /account")).user.email).toBe(email)
  const restarted = newClient({ refreshToken: kept.at(-1)! })
  expect((await restarted.call("GET /account")).user.email).toBe(email)
})

it("a user who changes the password continues to receive cart events", async () => {
  const { email } = await register(service)
  const client = newClient()
  await client.logIn({ email, password })
  const received: Array<string> = []
  client.live.subscribe("cart", {
    state: () => void received.push("state"),
    event: ({ event }) => void received.push(event),
  })
  await until(() => received.length === 1)
  await changePassword(client)
  await until(() => client.live.status === "connected")
  await client.call("POST /cart", { body: { items: [{ emoji_id: "🐙🎉🐙🎉🐙" }] } })
  await until(() => received.includes("cart.changed"))
})

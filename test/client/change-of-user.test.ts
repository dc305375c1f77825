import { beforeAll, expect, it } from "vitest"
import { password, register } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { openClient } from "./real-client.ts"
import { until } from "./until.ts"

let service: TestService

beforeAll(async () => {
  service = await serve()
})

const newClient = () => openClient(service)
const newPerson = async () => {
  const { email } = await register(service)
  return { email, password }
}

/** Records the users whose carts were received, in order, and the rejections. */
const listen = (client: ReturnType<typeof openClient>, channel: "cart" | "market" = "cart") => {
  const received: Array<string> = []
  client.live.subscribe(channel, {
    state: (state) => void received.push((state as { user?: { email: string } }).user?.email ?? channel),
    event: () => {},
    refused: (code) => void received.push(code),
  })
  return received
}

it("a visitor who logs in can subscribe to the cart, and the market subscription does not restart", async () => {
  const person = await newPerson()
  const client = newClient()
  const market = listen(client, "market")
  await until(() => market.length === 1)
  await client.logIn(person)
  const cart = listen(client)
  await until(() => cart.length === 1)
  expect(cart).toEqual([person.email])
  expect(market).toEqual(["market"])
})

it.each([
  ["after a logout of the first user", true],
  ["without a logout of the first user", false],
])("an open cart subscription receives the cart of the second user %s", async (_when, logsOut) => {
  const [alice, bob] = [await newPerson(), await newPerson()]
  const client = newClient()
  await client.logIn(alice)
  const cart = listen(client)
  await until(() => cart.length === 1)
  if (logsOut) {
    await client.logOut()
    await until(() => client.live.status === "logged_out")
  }
  await client.logIn(bob)
  await until(() => cart.length === 2)
  expect(cart).toEqual([alice.email, bob.email])
})

import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { liveCommands } from "../../src/cli/live.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})
afterAll(() => service.stop())

const watch = async (channel: string, options: Readonly<Record<string, ReadonlyArray<string>>> = {}) => {
  const printed: Array<unknown> = []
  const context = { baseUrl: service.url, print: (value: unknown) => void printed.push(value) }
  await liveCommands[0]!.call({ words: [channel], options }, context)
  return printed
}

describe("live watch", () => {
  it("prints the state of the channel and ends after the requested number of events", async () => {
    const user = await service.user()
    const token = { token: [user.token], events: ["1"] }
    const printed = watch("cart", token)
    let isDone = false
    void printed.finally(() => {
      isDone = true
    })
    const ids = ["🐙🎈🎲🍀", "🎈🎲🍀🐙", "🎲🍀🐙🎈", "🍀🐙🎈🎲"]
    for (let n = 0; !isDone; n = (n + 1) % ids.length) {
      const body = { items: [{ emoji_id: ids[n] }] }
      await service.call("POST", "/cart", { token: user.token, body })
      await service.call("DELETE", "/cart", { token: user.token })
    }
    expect(await printed).toMatchObject([
      { type: "state", channel: "cart" },
      { type: "event", channel: "cart", event: "cart.changed" },
    ])
  })

  it.each([
    ["an unknown channel", "nonsense", {}, /^Unknown channel/],
    ["a channel of a user without a token", "cart", {}, /Pass --token/],
    ["an invalid token", "cart", { token: ["bad"] }, /^--token/],
    ["an invalid URL", "market", { url: ["nonsense"] }, /^--url/],
    ["a number of events that is not positive", "market", { events: ["0"] }, /^--events/],
  ])("rejects %s with one line that says what to change", async (_, channel, options, message) => {
    await expect(watch(channel, options)).rejects.toThrow(message)
  })
})

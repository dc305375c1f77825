import { setTimeout as sleep } from "node:timers/promises"
import { request } from "../fixtures/api-call.ts"

const emoji = [..."🍇🍈🍉🍊🍋🍌🍍🍎🍐🍑🍒🍓🍆🌽🍄🍞🧀🍗🍔🍟🍕🌭🍳🍿🍱🍘"]
const ids = emoji.flatMap((one) => emoji.flatMap((other) => [`${one}${other}🚀`, `${one}${other}🌊`]))

/** The load must not use all of the processor, which the backup needs too. */
const pauseMs = 30

/** A write that was acknowledged at this time. */
interface Acknowledged {
  readonly id: string
  readonly at: number
}

/** Buys one free id after the other for each token, and looks for other ids, until it is stopped. */
export const startBuyers = (url: string, tokens: ReadonlyArray<string>) => {
  const bought: Array<Acknowledged> = []
  const interests: Array<Acknowledged> = []
  let isStopped = false
  let next = 0
  const ask = (path: string, token: string, body: unknown) =>
    request(`${url}${path}`, "POST", { token, body })
  const note = (list: Array<Acknowledged>, id: string, status: number) => {
    if (status < 300) list.push({ id, at: Date.now() })
    return sleep(pauseMs)
  }
  const buy = async (token: string) => {
    while (!isStopped) {
      const id = ids[next++]!
      await ask("/cart", token, { items: [{ emoji_id: id }] })
      await note(bought, id, (await ask("/cart/checkout", token, { method: "Free" })).status)
    }
  }
  const look = async (token: string) => {
    while (!isStopped) {
      const id = ids[next++]!
      await note(interests, id, (await ask("/user_interests", token, { emoji_id: id })).status)
    }
  }
  const running = Promise.all(
    tokens.flatMap((token) => [buy(token), look(token)]).map((one) => one.catch(() => {})),
  )
  return {
    bought,
    interests,
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

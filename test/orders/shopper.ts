import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { emojis } from "../../schema/directory/emoji.ts"
import { type Answer, type CallOptions, request } from "../fixtures/api-call.ts"
import { patienceMs } from "../fixtures/suite/patience.ts"
import type { TestService, TestUser } from "../fixtures/test-service.ts"

let used = 0
/** Returns an id of four emoji that no other test of the same file uses. */
export const freshId = (): string => {
  let n = used++
  let id = ""
  for (let place = 0; place < 4; place++) {
    id += emojis[(n + 7 * place) % 400]!.canonical
    n = Math.floor(n / 400) + n
  }
  return id
}

export const freshIds = (count: number): ReadonlyArray<string> => Array.from({ length: count }, freshId)

export const urls = { success_url: "https://shop.example/done", cancel_url: "https://shop.example/back" }
export const card = { method: "CardCheckout", ...urls } as const
export const crypto = { method: "CryptoCommerce" } as const

/** Creates the client of a buyer. Every call sends the buyer's token. */
export const shopper = (service: Pick<TestService, "url">, user: TestUser) => {
  const call = (method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> =>
    request(`${service.url}${path}`, method, {
      token: user.token,
      ...(body === undefined ? {} : { body }),
      ...options,
    })
  return {
    ...user,
    call,
    cart: () => call("GET", "/cart"),
    add: (...ids: ReadonlyArray<string>) =>
      call("POST", "/cart", { items: ids.map((emoji_id) => ({ emoji_id })) }),
    checkout: (body: unknown = card) => call("POST", "/cart/checkout", body),
    order: (id: string) => call("GET", `/orders/${id}`),
  }
}

export const newShopper = async (service: TestService, facts: Parameters<TestService["user"]>[0] = {}) =>
  shopper(service, await service.user(facts))

/** The longest pause before a request that a busy machine did not process is repeated. */
const pauseMs = 500

/**
 * Repeats a request with the same Idempotency-Key, as clients do, while it is answered 503, or 409 because the first
 * attempt is still running. Tests that send hundreds of requests at once need it on a busy machine.
 */
export const untilAnswered = async (
  send: (options: { readonly headers: Record<string, string> }) => Promise<Answer>,
): Promise<Answer> => {
  const options = { headers: { "Idempotency-Key": randomUUID() } }
  for (;;) {
    const answer = await send(options)
    const isRunning = answer.status === 409 && String(answer.body?.error).includes("still running")
    if (answer.status !== 503 && !isRunning) return answer
    await sleep(pauseMs * Math.random())
  }
}

/** Submits the form of the sandbox checkout page with this action. */
export const atSandbox = (service: Pick<TestService, "url">, sessionId: string, action: string) =>
  request(`${service.url}/sandbox/checkout/${sessionId}`, "POST", {
    rawBody: new URLSearchParams({ action }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  })

/**
 * Repeats the call until `wanted` accepts its result or the time limit is reached, and returns the last result. The
 * tests need this because webhooks are delivered asynchronously.
 */
export const until = async <A>(ask: () => Promise<A>, wanted: (answer: A) => boolean): Promise<A> => {
  for (const deadline = Date.now() + patienceMs; ; ) {
    const answer = await ask()
    if (wanted(answer) || Date.now() > deadline) return answer
    await sleep(25)
  }
}

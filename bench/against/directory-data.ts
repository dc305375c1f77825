import { BenchFailure } from "../failure.ts"
import { buildRequest, type Target, urlOfTarget } from "../load/request.ts"
import { sendAll } from "../load/send-all.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { keysOf, type MasterKey } from "../stored/open.ts"

// All data is stored through the public API, because the tables of the other commit may be different.

export const adminEmail = "bench-admin@example.com"
export const adminPassword = "correct horse battery staple"
export const storedIds = 2_000
const people = 64
const parallelRegistrations = 4
const bitcoin = { tag: "0x1003", data: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" }

export interface Person {
  readonly email: string
  readonly token: string
}

/**
 * The data that a compared service stores before the measurement. Id n belongs to person `n % people` and has two
 * records, a web page and a Bitcoin address.
 */
export interface DirectoryData {
  readonly admin: string
  readonly people: readonly Person[]
  readonly keys: readonly MasterKey[]
  /**
   * The number of the current run. It determines which ids the run buys or registers, so that no two runs use the
   * same ids.
   */
  readonly run: number
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

export const idPath = (n: number): string => `/emoji_id/${encodeURIComponent(canonicalAt(n))}`

export async function storeDirectory(server: RunningServer): Promise<DirectoryData> {
  const { target } = server
  const login = { email: adminEmail, password: adminPassword }
  const admin = tokenOf(await call(target, "POST", "/auth/token", login))
  const made: Person[] = []
  let next = 0
  const registerSome = async () => {
    for (let n = next++; n < people; n = next++) made[n] = await register(target, `bench-${n}@example.com`)
  }
  await Promise.all(Array.from({ length: parallelRegistrations }, registerSome))
  const owner = (n: number) => made[n % people]!
  await sendAll(target, storedIds, (n) =>
    buildRequest(target, {
      method: "POST",
      path: "/emoji_id",
      headers: bearer(admin),
      body: { emoji_id: canonicalAt(n), email: owner(n).email },
    }),
  )
  await sendAll(target, storedIds, (n) =>
    buildRequest(target, {
      method: "PATCH",
      path: idPath(n),
      headers: bearer(owner(n).token),
      body: { insert: [bitcoin, { tag: "0x4001", data: "https://example.com/octopus" }] },
    }),
  )
  return { admin, people: made, keys: keysOf(server), run: 0 }
}

/** Looks up every id once, so that the ids are in memory as in a long-running service. */
export const settleDirectory = ({ target }: RunningServer): Promise<void> =>
  sendAll(target, storedIds, (n) => buildRequest(target, { path: idPath(n) }))

/** Registers a user and confirms the email address. Purchases and transfers require a confirmed address. */
async function register(target: Target, email: string): Promise<Person> {
  const token = tokenOf(await call(target, "POST", "/users", { email, password: adminPassword }))
  const mails = await call(target, "GET", `/dev/outbox?to=${encodeURIComponent(email)}`)
  const link = /_token=([\w-]+)/.exec(JSON.stringify(mails))?.[1]
  if (link === undefined)
    throw new BenchFailure(`preparing ${target.side}: no confirmation mail in the outbox`)
  await call(target, "POST", "/auth/magic_link/consume", { token: link }, token)
  return { email, token }
}

const tokenOf = (answer: unknown): string => (answer as { readonly access_token: string }).access_token

async function call(target: Target, method: string, path: string, body?: unknown, token?: string) {
  const answer = await fetch(urlOfTarget(target, path), {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : bearer(token)),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok)
    throw new BenchFailure(`preparing ${target.side}: ${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as unknown
}

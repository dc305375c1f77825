import { describe, expect, it } from "vitest"
import { routes } from "../../src/routes.ts"
import { password, register, someEmail } from "../accounts/person.ts"
import { isGuarded } from "../fixtures/access-table.ts"
import { contractOperations, expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"
import { freshId } from "../orders/shopper.ts"
import { admittedStatus, makeRequests } from "../security/roles/matrix-requests.ts"
import { isAllowed, makeCallers, makeWorld } from "../security/roles/matrix-world.ts"
import { fixedTime, libraries, send } from "./send.ts"

/**
 * Calls the operations of the original API as a client does that was generated from its description: JSON headers on
 * every request, and the body `null` on a POST, PUT, PATCH or DELETE without parameters in the body.
 */
// `peersPossible` makes the service read the database, because the builders of the requests change rows directly.
const service = await serve({}, { peersPossible: true })
const requests = makeRequests(service)
const id = freshId()
const path = `/emoji_id/${encodeURIComponent(id)}`
const admin = await service.user({ role: "Admin" })
const owned = { emoji_id: id, user_id: admin.id }
expect((await service.call("POST", "/emoji_id", { token: admin.token, body: owned })).status).toBe(200)

interface Call {
  readonly path: string
  readonly body?: object
  readonly token?: string
}
const publicCalls: Readonly<Record<string, () => Call | Promise<Call>>> = {
  emojiList: () => ({ path: "/emoji" }),
  lookupEmojiID: () => ({ path }),
  lookupEmojiIDPayment: () => ({ path: `${path}/payment` }),
  lookupEmojiIdTicker: () => ({ path: `${path}/BTC` }),
  emojiIDMetadata: () => ({ path: `${path}/metadata` }),
  rhythm: () => ({ path: `${path}/rhythm` }),
  loadJson: () => ({ path: `${path}/json/VisualizerFileLocations` }),
  loadJsonIndex: () => ({ path: `${path}/json?keys=SvcPageData%2CVisualizerName` }),
  metadata: async () => {
    const listed = await service.call("GET", "/emoji_id/extended", { token: admin.token })
    return { path: `/nft_transfers/metadata/${listed.body[0].token_id}` }
  },
  createUser: () => ({ path: "/users", body: { email: someEmail(), password } }),
  login: async () => ({ path: "/auth/token", body: { email: (await register(service)).email, password } }),
  refreshToken: async () => ({
    path: "/auth/token/refresh",
    body: { refresh_token: (await register(service)).refresh },
  }),
  magicLinkLogin: () => ({ path: "/auth/magic_link", body: { email: someEmail() } }),
}

/** Operations whose success needs a code or a signature, or whose answer is a redirect. Other tests call them. */
const elsewhere = new Set([
  ...Object.keys(admittedStatus),
  ...["twoFactorAuthentication", "backupDisable2FA", "send2FASms", "linkRedirect"],
])

const rowOf = (operationId: string) => routes.find((row) => row.id === operationId)!

/** Finds a caller that may use the operation, and makes the request of that caller. */
const guardedCall = async (operationId: string): Promise<Call> => {
  const row = rowOf(operationId)
  const world = await makeWorld(service)
  // An account that owns a key of an organization cannot be deleted.
  if (operationId === "deleteUser") await service.sql`delete from pubkey where pubkey = ${world.pubkey}`
  const sessions = (await makeCallers(service, world, row)).filter(
    (caller) => caller.options.token !== undefined && caller.accepted(row) === "by scopes",
  )
  for (const caller of sessions.sort((a, b) => Number(b.isOwner) - Number(a.isOwner)))
    for (const target of await requests.targetsOf(row, world, caller))
      if (isAllowed(row, caller, target))
        return { path: target.path, body: target.body as object, token: caller.options.token! }
  throw new Error(`no caller may use ${operationId}`)
}

const timesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) ? [value] : []
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(timesIn) : []
}

describe("a generated client", () => {
  it("has a request in this file for every operation that needs no login", () => {
    const open = contractOperations.filter(({ operationId }) => !isGuarded(rowOf(operationId)))
    const missing = open.filter(
      ({ operationId }) => !(operationId in publicCalls || elsewhere.has(operationId)),
    )
    expect(missing.map(({ operationId }) => operationId)).toEqual([])
  })

  it.each(
    contractOperations
      .filter(({ operationId }) => !elsewhere.has(operationId))
      .map((operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const),
  )(
    "gets status 200, the declared JSON and times with milliseconds from %s",
    async (_name, { method, operationId, path: template }) => {
      const call = await (publicCalls[operationId]?.() ?? guardedCall(operationId))
      const authorization = call.token === undefined ? {} : { Authorization: `Bearer ${call.token}` }
      const sent = method === "get" ? undefined : (call.body ?? "null")
      const headers = { ...libraries.okhttp, ...authorization }
      const answer = await send(service, method.toUpperCase(), call.path, headers, sent)
      expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/./)])
      expect(answer.headers["content-type"]).toMatch(/^application\/json/)
      expectAnswer(method, template, answer.body)
      for (const time of timesIn(answer.body)) expect(time).toMatch(fixedTime)
    },
  )
})

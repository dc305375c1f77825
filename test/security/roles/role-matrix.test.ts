import { describe, expect, it } from "vitest"
import type { Route } from "../../../src/http/route.ts"
import { routes } from "../../../src/routes.ts"
import { isGuarded } from "../../fixtures/access-table.ts"
import { serve } from "../../fixtures/service.ts"
import { admittedStatus, makeRequests } from "./matrix-requests.ts"
import { isAllowed, makeCallers, makeWorld, type Target } from "./matrix-world.ts"

/**
 * These tests call every operation that requires credentials as every kind of caller, with existing resources of
 * another user or of an organization. Sensitive operations answer 424 to a session without a recent two-factor code. The
 * results must agree with the table of docs/roles.md, which is derived from the
 * same rows.
 */
// `peersPossible` makes the service read the database, because the tests change rows directly.
const service = await serve({}, { peersPossible: true })
const requests = makeRequests(service)
const guarded = routes.filter(isGuarded)

/** Operations that end the caller's sessions or delete the owner. Each caller needs a world of its own. */
const endsUsers = new Set(["logout", "endSession", "deleteUser"])

const makeSetting = async (row: Route) => {
  const world = await makeWorld(service)
  // An account that owns a key of an organization cannot be deleted.
  if (endsUsers.has(row.id)) await service.sql`delete from pubkey where pubkey = ${world.pubkey}`
  return { world, callers: await makeCallers(service, world, row) }
}

/** This administrator has two-factor login, but has entered no code in this session. */
const stale = await service.user({ role: "Admin" })
await service.sql`insert into two_factor (user_id, provider, confirmed_at) values (${stale.id}, 'AuthenticatorApp', now())`

/** Calls the operation as every caller. Returns the answers, and the answers that the table of roles requires. */
const callAll = async (row: Route) => {
  const shared = await makeSetting(row)
  const success = admittedStatus[row.id] ?? row.status ?? 200
  const answers: Array<readonly [caller: string, path: string, answer: number | string]> = []
  const required: typeof answers = []
  /** Targets that are as they were created, because no caller was admitted to them or because they were only read. */
  let unused: ReadonlyArray<Target> | undefined
  for (const place of shared.callers.keys()) {
    const { callers, world } = endsUsers.has(row.id) ? await makeSetting(row) : shared
    const caller = callers[place]!
    const targets = unused ?? (await requests.targetsOf(row, world, caller))
    unused = requests.areOfCaller(row) || endsUsers.has(row.id) ? undefined : targets
    for (const target of targets) {
      const { status, text } = await requests.send(row, caller, target)
      const allowed = isAllowed(row, caller, target)
      if (allowed && row.method !== "get") unused = undefined
      required.push([caller.name, target.path, allowed ? success : "refused"])
      const isRefusal = [401, 403, 404].includes(status) && !(allowed && status === success)
      answers.push([caller.name, target.path, isRefusal ? "refused" : status === success ? status : text])
    }
  }
  if (row.sensitive) {
    const caller = { ...shared.callers[0]!, options: { token: stale.token } }
    const [target] = unused ?? (await requests.targetsOf(row, shared.world, caller))
    const name = "an administrator without a recent two-factor code"
    required.push([name, target!.path, 424])
    answers.push([name, target!.path, (await requests.send(row, caller, target!)).status])
  }
  return { answers, required }
}

describe("the matrix of operations and callers", () => {
  it("has a request for every operation that requires credentials", () => {
    expect(guarded.filter((row) => !requests.has(row)).map(({ id }) => id)).toEqual([])
  })
})

describe.concurrent.each(guarded.map((row) => [`${row.method} ${row.path}`, row] as const))(
  "%s",
  (_name, row) => {
    it("admits and refuses the owner, members, other users, keys and tokens as docs/roles.md says", async () => {
      const { answers, required } = await callAll(row)
      expect(answers).toEqual(required)
    })
  },
)

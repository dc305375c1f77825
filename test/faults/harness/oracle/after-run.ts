import { setTimeout as sleep } from "node:timers/promises"
import { findDamage } from "../../../security/fuzz/target.ts"
import type { Fleet } from "../fleet/fleet.ts"
import type { Invariant, Violations } from "../violations.ts"
import { type Api, mustRetry } from "../workload/api.ts"
import { catchUp } from "../workload/live.ts"
import { checkRefused } from "../workload/logins.ts"
import type { World } from "../workload/world.ts"
import type { LiveLog } from "./live-log.ts"
import type { Unchecked } from "./unchecked.ts"

const settleMs = 90_000
const pollMs = 500
const repeats = 100
const watchMs = 5_000
/** The invariants that the tables show. */
const ofTables = [1, 2, 3, 4, 7, 8, 11] as const

/** Which invariant a violation of the tables belongs to. */
const invariantOf = (damage: string): Invariant => {
  if (/ledger|money/.test(damage)) return 4
  if (/code used|free ids/.test(damage)) return 8
  if (/twice/.test(damage)) return 7
  if (/hole/.test(damage)) return 11
  if (/pending order|order's claim/.test(damage)) return 3
  if (/paid orders/.test(damage)) return 2
  return 1
}

/** Waits until nothing is due: no deadline has passed and no webhook waits. */
const untilSettled = async ({ postgres: { sql } }: Fleet): Promise<ReadonlyArray<string>> => {
  for (const until = Date.now() + settleMs; ; await sleep(pollMs)) {
    const waiting = await sql<{ what: string }[]>`
      select 'overdue ' || kind || ' ' || id as what from entity where due_at < now() - interval '5 s'
      union all select 'undelivered webhook ' || id from sandbox_webhook where delivered_at is null
      limit 5`.catch(() => [{ what: "Postgres does not answer" }])
    if (waiting.length === 0 || Date.now() > until) return waiting.map(({ what }) => what)
  }
}

/** Repeats the operations without an answer at another process. Each must have been applied once, or be applied now. */
const resolveUnknown = (api: Api) =>
  Promise.all(
    api.unresolved.map(async ({ key, request, user }) => {
      const answers: Array<string> = []
      for (let attempt = 0; ; attempt++) {
        const member = api.members[attempt % api.members.length]!
        const answer = await api.once(member, request, key).catch(() => undefined)
        answers.push(`${member.name}: ${answer?.status ?? "none"}`)
        if ((answer === undefined || mustRetry(answer)) && attempt < repeats) {
          await sleep(pollMs)
          continue
        }
        const status = answer?.status ?? 0
        // A token that was renewed or ended in the meantime says nothing about the write.
        if (status === 401) return
        api.violations.check(
          5,
          (status > 0 && status < 400) || (request.mayAnswer ?? []).includes(status),
          () =>
            `unknown ${request.name} of ${user}, repeated after the run: ${answers.join(", ")}: ${answer?.text.slice(0, 160)}`,
        )
        return
      }
    }),
  )

const checkAcknowledged = async (
  { postgres: { sql } }: Fleet,
  { acknowledged }: Unchecked,
  violations: Violations,
) => {
  for (const { expected, invariant, query, values, what } of acknowledged) {
    const [row] = await sql.unsafe<{ found: string }[]>(query, [...values])
    violations.check(
      invariant,
      Number(row?.found) === expected,
      () => `${what}: found ${row?.found}, expected ${expected}`,
    )
  }
}

/** Every order that the sandbox took money for is paid once, and its ids belong to the buyer or have moved on. */
const checkPayments = async (
  { postgres: { sql } }: Fleet,
  { payments }: Unchecked,
  violations: Violations,
) => {
  for (const { order } of payments) {
    const [row] = await sql<{ status: string; captures: string }[]>`
      select e.status, (select count(*) from sandbox_payment p join sandbox_intent i on i.id = p.intent_id
                         where i.order_id = e.id and p.outcome = 'captured') as captures
        from entity e where e.kind = 'order' and e.id = ${order}`
    violations.check(
      6,
      Number(row?.captures) >= 1,
      () => `order ${order}: the sandbox confirmed a payment, but has none`,
    )
    violations.check(
      2,
      row?.status === "Paid" || row?.status === "Cancelled",
      () => `order ${order} with a payment is ${row?.status}`,
    )
  }
  const strangers = await sql<{ what: string }[]>`
    select e.id || ' ' || (i->>'claim') as what
      from entity e, jsonb_array_elements(e.state->'context'->'items') i
     where e.kind = 'order' and e.status = 'Paid' and i->>'type' = 'EmojiId'
       and not exists (select 1 from emoji_id d where d.canonical = i->>'claim' and d.owner_id = e.owner_id)
       and not exists (select 1 from entity t where t.kind = 'transfer' and t.status = 'Accepted' and t.subject = i->>'claim')`
  violations.check(
    2,
    strangers.length === 0,
    () => `paid ids that belong to others: ${strangers.map(({ what }) => what).join(", ")}`,
  )
}

const checkTables = async ({ postgres: { sql } }: Fleet, violations: Violations) => {
  const damages = await findDamage(sql).catch(() => undefined)
  if (damages === undefined) return
  for (const invariant of ofTables) violations.check(invariant, true, () => "")
  for (const damage of damages) violations.check(invariantOf(damage), false, () => damage)
}

/** Checks the tables again and again during the run. Each check is one statement, so it sees one state. */
export const watchTables = async (fleet: Fleet, { api, isOver }: World): Promise<void> => {
  while (!isOver()) {
    await checkTables(fleet, api.violations)
    await sleep(watchMs)
  }
}

/** Checks everything that must hold when the run has ended and all faults are healed. */
export const judge = async (fleet: Fleet, world: World, liveLogs: ReadonlyArray<LiveLog>): Promise<void> => {
  const { api, unchecked } = world
  const { violations } = api
  await resolveUnknown(api)
  const waiting = await untilSettled(fleet)
  violations.check(
    3,
    waiting.length === 0,
    () => `not settled after ${settleMs / 1000} s: ${waiting.join(", ")}`,
  )
  await checkTables(fleet, violations)
  await checkAcknowledged(fleet, unchecked, violations)
  await checkPayments(fleet, unchecked, violations)
  for (const { token, what } of unchecked.ended) await checkRefused({ api }, () => token, what)
  for (const [place, log] of liveLogs.entries()) {
    const missing = await catchUp(fleet.members[place % fleet.members.length]!, log, fleet.postgres.sql)
    violations.check(
      11,
      missing.length === 0,
      () => `a live client did not receive everything: ${missing.join(", ")}`,
    )
    await log.compare(fleet.postgres.sql)
  }
  for (const { edited } of world.users)
    for (const member of fleet.members) await world.versions.lookup(member, edited.id)
}

import { Effect } from "effect"
import { EmojiId } from "../../schema/directory/emoji-id.ts"
import { Outbox } from "../../src/turns/outbox.ts"
import type { TestService, TestUser } from "../fixtures/service.ts"

/** Returns a function that returns a new id of five emoji with each call. */
export const makeIds = (from = 0) => {
  let next = from
  return (): string => {
    const n = next++
    return new EmojiId([1, 2, 3, Math.floor(n / 400), n % 400]).canonical
  }
}

/** Registers the id for the user, as a paid order does. */
export const grant = async ({ sql }: TestService, user: TestUser, canonical: string): Promise<void> => {
  await sql`with c as (insert into claim (canonical, kind, holder, owner_id)
                       values (${canonical}, 'owned', ${user.id}, ${user.id}))
            insert into emoji_id (canonical, owner_id, source) values (${canonical}, ${user.id}, 'test')`
}

export const mails = (service: TestService, email: string) =>
  service.runtime.runPromise(Effect.flatMap(Outbox, (outbox) => outbox.list(email, 50)))

/** Returns the newest code that was mailed to the address, for one transfer or for any transfer. */
export const codeFor = async (service: TestService, email: string, transferId?: string): Promise<string> => {
  const [newest] = (await mails(service, email)).filter(
    ({ data }) => "code" in data && (transferId === undefined || data["transfer_id"] === transferId),
  )
  return String(newest?.data["code"])
}

export const claimOf = async ({ sql }: TestService, canonical: string) => {
  const [row] = await sql<{ kind: string; holder: string; owner_id: string | null }[]>`
    select kind, holder, owner_id from claim where canonical = ${canonical}`
  return row
}

export const ownerOf = async ({ sql }: TestService, canonical: string): Promise<string | undefined> => {
  const [row] = await sql<
    { owner_id: string }[]
  >`select owner_id from emoji_id where canonical = ${canonical}`
  return row?.owner_id
}

export const eventTypes = async ({ sql }: TestService, channel: string): Promise<ReadonlyArray<string>> =>
  (await sql<{ type: string }[]>`select type from event where channel = ${channel} order by "offset"`).map(
    ({ type }) => type,
  )

/** Moves the dates of a transfer and of its codes into the past by this many seconds. */
export const age = async (
  { sql }: Pick<TestService, "sql">,
  transferId: string,
  seconds: number,
): Promise<void> => {
  const ms = seconds * 1000
  await sql`update entity set due_at = due_at - make_interval(secs => ${seconds}), version = version + 1,
                   state = jsonb_set(jsonb_set(jsonb_set(state, '{context,expiresAt}',
                     to_jsonb(wire_time((state->'context'->>'expiresAt')::timestamptz - make_interval(secs => ${seconds})))),
                     '{context,senderCode}', case when state->'context'->'senderCode' = 'null' then 'null' else
                       state->'context'->'senderCode' || jsonb_build_object(
                         'sentAt', (state->'context'->'senderCode'->>'sentAt')::float8 - ${ms}::float8,
                         'expiresAt', (state->'context'->'senderCode'->>'expiresAt')::float8 - ${ms}::float8) end),
                     '{context,receiverCode}', case when state->'context'->'receiverCode' = 'null' then 'null' else
                       state->'context'->'receiverCode' || jsonb_build_object(
                         'sentAt', (state->'context'->'receiverCode'->>'sentAt')::float8 - ${ms}::float8,
                         'expiresAt', (state->'context'->'receiverCode'->>'expiresAt')::float8 - ${ms}::float8) end)
             where kind = 'transfer' and id = ${transferId}`
}

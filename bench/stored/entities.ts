import type { Sql } from "postgres"
import { urlOfTarget } from "../load/request.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt } from "./ids.ts"
import { openStored } from "./open.ts"
import { emailAt, password, tokensFor, userIdAt } from "./people.ts"

const freeLength = 3
/** The number of users who create the entities that are copied. They must exist. */
export const creators = 2

/** The name of the bench's administrator, who is none of the stored people. */
export const adminNumber = 0xadadad

/** So many rows take less than the time limit of a statement. */
const rowsPerStatement = 100_000

/** The id of copy n of an entity. Orders, transfers, lootboxes and sessions may have the same id. */
export const entityIdAt = (n: number): string => `10000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`

/** Creates orders, transfers, lootboxes and a session through the service, in the states that most of them have. */
async function createThroughService(server: RunningServer): Promise<void> {
  const [admin = ""] = await tokensFor(server, [adminNumber], "Admin")
  const [user = ""] = await tokensFor(server, [0])
  const call = async (token: string, method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await fetch(urlOfTarget(server.target, path), {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  let used = 0
  const freeId = () => canonicalAt(used++, freeLength)
  const email = emailAt(1)

  const sent = freeId()
  const given = freeId()
  for (const emoji_id of [sent, given])
    await call(admin, "POST", "/emoji_id", { emoji_id, user_id: userIdAt(0) })
  await call(user, "POST", "/transfers", { eid: sent, email })
  await call(admin, "POST", "/transfers", { eid: given, email, force_transfer: true })
  await call(admin, "POST", "/lootboxes", { status: "Available", yats: [freeId()] })
  await call(admin, "POST", "/lootboxes", { status: "Owned", yats: [freeId()], owner_id: userIdAt(0) })
  await call(user, "POST", "/auth/token", { email: emailAt(0), password })
  await call(user, "POST", "/cart", { items: [{ emoji_id: freeId() }] })
  await call(user, "POST", "/cart/checkout", { method: "CryptoCommerce" })
  await call(user, "DELETE", "/cart")
  await call(user, "POST", "/cart", { items: [{ emoji_id: freeId() }] })
  await call(user, "POST", "/cart/checkout", { method: "Free" })
}

/**
 * Stores `rows` entities of each kind. They are copies of the existing ones in turn, and copy n belongs to user n. So users
 * with an odd number have a paid order, an accepted transfer and a lootbox.
 */
const copyEntities = (sql: Sql, rows: number, from: number, end: number) => sql`
  insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at, created_at, updated_at)
  select kind, x.id, version, turn, status,
         replace(replace(state::text, original.id::text, x.id::text), ${userIdAt(0)}, x.owner::text)::jsonb,
         case when owner_id is not null then x.owner end,
         case when peer_id is not null then (${userIdAt(0).slice(0, 24)} || lpad(to_hex((n + 1) % ${rows}::int), 12, '0'))::uuid end,
         subject, due_at + make_interval(secs => n % 86400), created_at - make_interval(secs => n % 1000000), updated_at
    from original, generate_series(${from}::int, ${end - 1}::int) n,
         lateral (select (${entityIdAt(0).slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid as id,
                         (${userIdAt(0).slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid as owner) x
   where n % places = place`

/** Creates one entity of each kind and state through the service, and copies them. */
export async function storeEntities(server: RunningServer, rows: number): Promise<void> {
  await createThroughService(server)
  await openStored(server, async (sql) => {
    await sql`
      create temp table original as
      select *, (row_number() over (partition by kind order by created_at, id) - 1)::int as place,
             count(*) over (partition by kind)::int as places
        from entity where kind in ('order', 'transfer', 'lootbox', 'session') and status <> 'Draft'`
    for (let from = 0; from < rows; from += rowsPerStatement)
      await copyEntities(sql, rows, from, Math.min(rows, from + rowsPerStatement))
  })
}

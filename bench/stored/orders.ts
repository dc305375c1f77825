import { randomUUID } from "node:crypto"
import { urlOfTarget } from "../load/request.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt } from "./ids.ts"
import { openStored } from "./open.ts"
import { tokensOf, userIdAt } from "./people.ts"

const boughtLength = 3

/**
 * Creates one paid order through the service, and stores copies of it directly in the database. Each copy has its own
 * order id and its own ledger lines.
 */
export async function storeOrders(server: RunningServer, orders: number): Promise<void> {
  const [token] = await tokensOf(server, 1)
  const call = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(urlOfTarget(server.target, path), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
  }
  await call("/cart", { items: [{ emoji_id: canonicalAt(Math.floor(Math.random() * 1e6), boughtLength) }] })
  await call("/cart/checkout", { method: "Free" })
  const prefix = randomUUID().slice(0, 24)
  await openStored(server, async (sql) => {
    await sql`
      with paid as (select * from entity where kind = 'order' and owner_id = ${userIdAt(0)} and status = 'Paid' limit 1)
      insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, created_at, updated_at)
      select kind, (${prefix} || lpad(to_hex(n), 12, '0'))::uuid, version, turn, status, state,
             (${userIdAt(0).slice(0, 24)} || lpad(to_hex(n % 1000), 12, '0'))::uuid, peer_id, subject,
             created_at - make_interval(secs => n), updated_at
        from paid, generate_series(1, ${orders}::int) n`
    await sql`
      with booked as (
        insert into journal (order_id, reference)
        select (${prefix} || lpad(to_hex(n), 12, '0'))::uuid, 'bench:' || ${prefix} || n from generate_series(1, ${orders}::int) n
        returning id)
      insert into ledger_line (journal_id, account, cents)
      select id, account, cents from booked, (values ('funds:bench', 400), ('revenue:bench', -400)) as line(account, cents)`
    await sql`analyze entity, journal, ledger_line`
  })
}

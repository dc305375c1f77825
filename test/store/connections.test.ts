import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { heldUpMs } from "../../src/store/connections.ts"
import { Sql } from "../../src/store/sql.ts"
import { serve } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"

const service = await serve({ POOL_SIZE: "2" })
const ask = (statement: Parameters<(typeof Sql)["Service"]["rows"]>[0]) =>
  service.runtime.runPromise(Sql.use((sql) => sql.rows(statement)))

it("nobody waits behind a statement that waits for a lock while another connection goes on", async () => {
  const { id } = await service.user()
  let isHeld = true
  let held: Promise<unknown> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select 1 from app_user where id = ${id} for update`
    held = ask((q) => q`update app_user set first_name = 'Ada' where id = ${id}`).then(() => {
      isHeld = false
    })
    await expect.poll(() => waiting(service)).toHaveLength(1)
    await sleep(heldUpMs)
    for (let round = 0; round < 5; round++)
      await Promise.all(Array.from({ length: 8 }, () => ask((q) => q`select 1`)))
    expect(isHeld).toBe(true)
  })
  await held
})

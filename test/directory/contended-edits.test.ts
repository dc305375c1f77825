import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { normalizeRecord, RecordRefused } from "../../schema/directory/records/record.ts"
import { merkleRoot } from "../../src/directory/merkle.ts"
import type { Answer } from "../fixtures/service.ts"
import { roomy, waiting } from "../fixtures/waiting.ts"
import { freshId } from "../orders/shopper.ts"
import { emojiId, serveDirectory } from "./directory-service.ts"

const service = await serveDirectory(roomy)

/** Edits an id that other edits change all the time. Returns the answer, and sends the same request again. */
const editContendedId = async () => {
  const owner = await service.user()
  const id = freshId()
  await service.register(id, owner)
  const record = { tag: "0x5001", data: "signed" }
  const stored = normalizeRecord(record, emojiId(id))
  if (stored instanceof RecordRefused) throw new Error(stored.message)
  const key = randomUUID()
  const send = () =>
    service.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
      token: owner.token,
      body: { insert: [record], merkle_root: merkleRoot([stored.hash]) },
      headers: { "idempotency-key": key },
    })
  /** Locks the id, and raises its version at the end. */
  const lock = async () => {
    const connection = await service.sql.reserve()
    await connection`begin`
    await connection`select 1 from emoji_id where canonical = ${id} for update`
    return async () => {
      await connection`update emoji_id set version = version + 1 where canonical = ${id}`
      await connection`commit`
      connection.release()
    }
  }
  let unlock = await lock()
  let answer: Answer | undefined
  void send().then((one) => {
    answer = one
  })
  // Each change is committed while the edit waits for its lock. The next change gets the lock after the edit.
  const isWaiting = async (count: number) => answer !== undefined || (await waiting(service)).length >= count
  while (answer === undefined) {
    await expect.poll(() => isWaiting(1)).toBe(true)
    const next = lock()
    await expect.poll(() => isWaiting(2)).toBe(true)
    await unlock()
    unlock = await next
  }
  await unlock()
  return { answer, send }
}

it("an edit that other edits precede every time gets 503, and its retry with the same Idempotency-Key succeeds", async () => {
  let edit = await editContendedId()
  // On a busy machine, the edit can lock the id again before the database wakes the change that waits for it.
  while (edit.answer.status === 200) edit = await editContendedId()
  const { answer, send } = edit
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"])
  expect((await send()).status).toBe(200)
})

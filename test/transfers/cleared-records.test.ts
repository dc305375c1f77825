import { expect, it } from "vitest"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { sendAll, waiting } from "../fixtures/waiting.ts"
import { codeFor, grant, makeIds, ownerOf } from "./transfer-service.ts"

const nextId = makeIds(80_000)
const address = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"

it("a transfer with `clear_on_transfer` also removes records that are written while the receiver accepts", async () => {
  // With this pool size, only one statement with edits runs at a time. Edits that arrive while it runs share the next
  // statement.
  const environment = { POOL_SIZE: "2", SWEEP_INTERVAL_MS: "60000" }
  const one = await serve(environment, { peersPossible: true })
  const two = await serve(environment, { database: one.database, peersPossible: true })
  const [sender, recipient] = [await one.user(), await one.user()]
  const [eid, slow, busy] = [nextId(), nextId(), nextId()].toSorted() as [string, string, string]
  for (const id of [eid, slow, busy]) await grant(one, sender, id)
  const call = (service: TestService, { token }: TestUser, method: string, path: string, body: unknown) =>
    service.call(method, path, { token, body })
  const edit = (id: string) =>
    call(one, sender, "PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
      insert: [{ tag: "0x1003", data: address }],
    })
  const hold = (id: string, meanwhile: () => Promise<unknown>) =>
    one.sql.begin(async (q) => {
      await q`select 1 from emoji_id where canonical = ${id} for update`
      await meanwhile()
    })

  const transferBody = { eid, email: recipient.email, clear_on_transfer: true }
  const { body } = await call(two, sender, "POST", "/transfers", transferBody)
  await call(two, sender, "POST", `/transfers/${body.id}/sender_accept`, {
    code: await codeFor(two, sender.email, body.id),
  })
  const code = await codeFor(two, recipient.email, body.id)

  const edits: Array<ReturnType<typeof edit>> = []
  let accepted: ReturnType<typeof edit> | undefined
  await hold(slow, async () => {
    await hold(busy, async () => {
      edits.push(edit(busy))
      await expect.poll(() => waiting(one)).toHaveLength(1)
      edits.push(...(await sendAll(one, () => [edit(eid), edit(slow)])))
    })
    // The statement has written the edit of `eid` and now waits for the lock on `slow`. Both edits commit together.
    await expect.poll(() => waiting(one)).toHaveLength(1)
    accepted = call(two, recipient, "POST", `/transfers/${body.id}/receiver_accept`, { code })
    await expect.poll(() => waiting(one)).toHaveLength(2)
  })

  expect((await Promise.all(edits)).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await accepted)?.status).toBe(200)
  expect(await ownerOf(one, eid)).toBe(recipient.id)
  expect((await one.call("GET", `/emoji_id/${encodeURIComponent(eid)}`)).body.result).toEqual([])
})

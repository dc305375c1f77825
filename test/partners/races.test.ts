import { expect, it } from "vitest"
import { roleScopes } from "../../schema/accounts/scope.ts"
import { type DirectoryRecord, normalizeRecord } from "../../schema/directory/records/record.ts"
import { writeAddresses } from "../../src/partners/record-writes.ts"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { roomy, waiting } from "../fixtures/waiting.ts"

it("a partner's address does not replace an address that the owner writes at the same time", async () => {
  const service = await serveDirectory(roomy)
  const owner = await service.user()
  await service.register("🐙🐙", owner)
  const address = normalizeRecord({ tag: "0x1003", data: otherBitcoin }) as DirectoryRecord
  const principal = {
    userId: owner.id,
    role: "User",
    scopes: roleScopes.User,
    via: "session",
    sessionId: "",
    emojiId: undefined,
    organizations: new Map(),
    twoFactor: false,
  } as const
  const written = await service.sql.begin(async (sql) => {
    await sql`select 1 from emoji_id where canonical = '🐙🐙' for update`
    const own = service.edit("🐙🐙", owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    await expect.poll(() => waiting(service)).toHaveLength(1)
    const sent = service.runtime.runPromise(
      writeAddresses(principal, "🐙🐙", [address], { keepsExisting: true }),
    )
    await expect.poll(() => waiting(service)).toHaveLength(2)
    return { own, sent }
  })
  expect((await written.own).status).toBe(200)
  await written.sent
  const { result } = (await service.lookup("🐙🐙")).body
  expect(result.map(({ data }: DirectoryRecord) => data)).toEqual([bitcoin])
})

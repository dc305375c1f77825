import { Effect } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { RecordInput } from "../../schema/directory/records/record.ts"
import { UserList } from "../accounts/user-list-store.ts"
import { IdRegistry } from "../directory/id-registry.ts"
import { Records } from "../directory/records.ts"
import { DemoItems } from "./demo-item-store.ts"
import { alice, bob } from "./people.ts"
import { ignoreExisting, type SeedStep } from "./seed-step.ts"

interface DemoId {
  readonly emojis: string
  readonly owner: string
  readonly records: ReadonlyArray<RecordInput>
}

// The addresses are from published test vectors. Their checksums are valid, but they must not be used for real
// payments.
const bitcoin = { tag: "0x1003", data: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" }
const ethereum = { tag: "0x1004", data: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" }

export const demoIds: ReadonlyArray<DemoId> = [
  {
    emojis: "🚀🌊🔥",
    owner: alice.email,
    records: [
      bitcoin,
      ethereum,
      { tag: "0x0005", data: "Alice" },
      { tag: "0x0002", data: "Rocket surfer" },
      { tag: "0x0004", data: "https://example.com/alice" },
      { tag: "0x4001", data: "https://example.com/" },
    ],
  },
  { emojis: "🐙🌈🐙", owner: alice.email, records: [{ tag: "0x5001", data: "Eight arms, one pot of gold" }] },
  {
    emojis: "🦊🍕",
    owner: bob.email,
    records: [
      { ...bitcoin, data: "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa" },
      { tag: "0x0005", data: "Bob" },
    ],
  },
]

const seedId = Effect.fnUntraced(function* ({ emojis, owner, records }: DemoId) {
  const id = parseEmojiId(emojis)
  const userId = yield* UserList.use((users) => users.findIdByEmail(owner))
  if (id._tag !== "EmojiId" || userId === undefined) return
  const { canonical } = id
  yield* DemoItems.use((items) => items.note({ kind: "id", name: canonical, target: canonical }))
  yield* ignoreExisting(IdRegistry.use((registry) => registry.register(id, { user_id: userId })))
  const writer = { userId, organizations: [], isAdmin: false, mayUpdateSecureData: false }
  yield* ignoreExisting(Records.use((service) => service.edit(id, writer, { insert: records })))
})

const seed = Effect.forEach(demoIds, seedId, { discard: true })

export const demoIdsPart: SeedStep<Effect.Services<typeof seed>> = {
  name: "ids",
  seed,
  lines: ({ baseUrl }) => [
    `lookup   curl ${baseUrl}/emoji_id/${demoIds[0]!.emojis}`,
    `pay      curl ${baseUrl}/emoji_id/${demoIds[0]!.emojis}/BTC`,
  ],
}

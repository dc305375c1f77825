import { Effect } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { NewCode } from "../../schema/orders/code.ts"
import { UserList } from "../accounts/user-list-store.ts"
import { Lootboxes } from "../lootboxes/lootboxes.ts"
import { boxed } from "../lootboxes/rules.ts"
import { Codes } from "../orders/codes/code-store.ts"
import { DemoItems } from "./demo-item-store.ts"
import { alice } from "./people.ts"
import { ignoreExisting, type SeedStep } from "./seed-step.ts"

const demoCodes: ReadonlyArray<NewCode> = [
  {
    name: "Ten percent off",
    code_type: "Discount",
    redemption_code: "DEMO-10",
    discount_as_percentage: 10,
  },
  {
    name: "One free emoji id",
    code_type: "Discount",
    redemption_code: "DEMO-FREE",
    discount_as_percentage: 100,
    max_emojis_per_user: 1,
  },
]

const boxOnSale = ["🐙🎲🎈🐙🍀", "🍀🎈🎲🐙", "🎲🍀🐙🎈🎲"]
const boxToOpen = ["🎈🐙🍀🎲", "🍀🍀🎲🎲🐙"]

const idsOf = (texts: ReadonlyArray<string>) =>
  boxed(texts.map(parseEmojiId).filter((id) => id._tag === "EmojiId"))

const seed = Effect.gen(function* () {
  const codes = yield* Codes
  const items = yield* DemoItems
  const boxes = yield* Lootboxes
  const noteBox = items.note({ kind: "lootbox", name: "demo lootbox" })
  for (const code of demoCodes) {
    const id = yield* items.note({ kind: "code", name: code.redemption_code ?? code.name })
    yield* ignoreExisting(codes.create(code, id))
  }
  yield* ignoreExisting(boxes.put(idsOf(boxOnSale), "Available", { id: yield* noteBox }))
  const ownerId = yield* UserList.use((users) => users.findIdByEmail(alice.email))
  if (ownerId === undefined) return
  yield* ignoreExisting(boxes.put(idsOf(boxToOpen), "Owned", { id: yield* noteBox, ownerId }))
})

export const demoShop: SeedStep<Effect.Services<typeof seed>> = {
  name: "goods",
  seed,
  lines: ({ baseUrl }) => [
    "codes    DEMO-10: ten percent off a checkout; DEMO-FREE: one free emoji id",
    `boxes    ${baseUrl}/#/boxes: one lootbox to buy, one that ${alice.firstName} can open`,
  ],
}

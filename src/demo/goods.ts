import { Effect } from "effect"
import type { NewCode } from "../../schema/code.ts"
import { parseEmojiId } from "../../schema/emoji-id.ts"
import { Codes } from "../services/codes.ts"
import { boxed } from "../services/lootbox-rules.ts"
import { Lootboxes } from "../services/lootboxes.ts"
import { UserAdmin } from "../store/user-admin.ts"
import { type DemoPart, unlessThere } from "./part.ts"
import { alice } from "./people.ts"

const demoCodes: ReadonlyArray<NewCode> = [
  {
    name: "Ten percent off",
    code_type: "Discount",
    redemption_code: "DEMO-10",
    discount_as_percentage: 10,
  },
  {
    name: "One id for nothing",
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
  yield* Effect.forEach(demoCodes, (code) => unlessThere(codes.create(code)), { discard: true })
  const boxes = yield* Lootboxes
  yield* unlessThere(boxes.put(idsOf(boxOnSale), "Available", {}))
  const ownerId = yield* UserAdmin.use((users) => users.findIdByEmail(alice.email))
  if (ownerId !== undefined) yield* unlessThere(boxes.put(idsOf(boxToOpen), "Owned", { ownerId }))
})

export const demoGoods: DemoPart<Effect.Services<typeof seed>> = {
  name: "goods",
  seed,
  lines: ({ baseUrl }) => [
    "codes    DEMO-10 takes ten percent off a checkout, DEMO-FREE all of one id",
    `boxes    ${baseUrl}/#/boxes: one to buy, one of ${alice.firstName}'s to open`,
  ],
}

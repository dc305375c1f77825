import { Context, Effect, Layer } from "effect"
import { atMostOnce, type Written } from "../../actors/operation.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { fieldFault, type NotFound, type Unavailable, type Unprocessable } from "../../schema/errors.ts"
import {
  type LootBoxTypeConfig,
  maxBoxesPerRequest,
  type PublicLootBox,
  type PublicLootBoxType,
} from "../../schema/lootboxes/lootbox.ts"
import { secureRandom } from "../crypto/secure-random.ts"
import type { Principal } from "../http/principal.ts"
import { Market } from "../market/market.ts"
import { heldBackBy } from "../market/market-parameters.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makeFindClaimed } from "./claim-store.ts"
import { checkTypeConfig, drawId, drawSlots } from "./draw.ts"
import { LootboxTypes, type NewLootboxType } from "./lootbox-type-store.ts"
import { LootboxViews } from "./lootbox-view.ts"
import { Lootboxes } from "./lootboxes.ts"
import { boxed } from "./rules.ts"

const maxRounds = 24
// In the first rounds, one candidate is drawn for each slot, because most drawn ids are free. If slots are still
// empty after that, few ids are free, and later rounds draw several candidates for each slot.
const quickRounds = 2
const candidatesPerSlot = 8
const maxTries = 5

type Contents = ReadonlyArray<EmojiId>
const isFound = (id: EmojiId | undefined): id is EmojiId => id !== undefined

/** Creates lootbox types, and generates lootboxes of a type from ids that are free and on sale. */
export class LootboxGeneration extends Context.Service<
  LootboxGeneration,
  {
    createType(
      type: NewLootboxType,
    ): Effect.Effect<Written<WriteOutcome<PublicLootBoxType, undefined>>, Unprocessable | Unavailable>
    /**
     * Creates lootboxes with status Draft, with one statement. Creates fewer than `count` if there are not enough free
     * ids, and fails if there are too few for one lootbox.
     */
    generate(
      viewer: Principal,
      typeId: string,
      count: number,
    ): Effect.Effect<ReadonlyArray<PublicLootBox>, NotFound | Unprocessable | Unavailable>
  }
>()("directory/LootboxGeneration") {
  static readonly layer = Layer.effect(
    LootboxGeneration,
    Effect.gen(function* () {
      const boxes = yield* Lootboxes
      const findClaimed = yield* makeFindClaimed
      const market = yield* Market
      const types = yield* LootboxTypes
      const views = yield* LootboxViews

      /**
       * Finds a different free id for every slot, none of which is `taken`. Undefined if there are not enough free ids.
       */
      const drawContents = Effect.fnUntraced(function* (
        config: LootBoxTypeConfig,
        taken: ReadonlySet<string>,
      ) {
        const heldBack = heldBackBy(yield* market.parameters)
        let open = drawSlots(config, secureRandom)
        const found = new Map<string, EmojiId>()
        for (let round = 0; round < maxRounds && open.length > 0; round++) {
          const perSlot = round < quickRounds ? 1 : candidatesPerSlot
          const drawn = open.map((slot) => ({
            slot,
            ids: Array.from({ length: perSlot }, () => drawId(config, slot, secureRandom, heldBack)).filter(
              isFound,
            ),
          }))
          const claimed = yield* findClaimed(
            drawn.flatMap(({ ids }) => ids.map(({ canonical }) => canonical)),
          )
          open = drawn.flatMap(({ ids, slot }) => {
            const free = ids.find(
              ({ canonical }) => ![claimed, found, taken].some((known) => known.has(canonical)),
            )
            if (free === undefined) return [slot]
            found.set(free.canonical, free)
            return []
          })
        }
        return open.length === 0 ? [...found.values()] : undefined
      })

      /** Draws the contents of further lootboxes until there are `count`, or until there are not enough free ids. */
      const fill = Effect.fnUntraced(function* (
        config: LootBoxTypeConfig,
        count: number,
        drawn: ReadonlyArray<Contents>,
      ) {
        const contents = [...drawn]
        while (contents.length < count) {
          const taken = new Set(contents.flat().map(({ canonical }) => canonical))
          const one = yield* drawContents(config, taken)
          if (one === undefined) break
          contents.push(one)
        }
        return contents
      })

      const generate = Effect.fnUntraced(function* (typeId: string, count: number) {
        if (count < 1 || count > maxBoxesPerRequest) {
          return yield* fieldFault(
            "num_boxes",
            "range",
            `num_boxes must be between 1 and ${maxBoxesPerRequest}.`,
          )
        }
        const { config } = yield* types.get(typeId)
        let contents: ReadonlyArray<Contents> = []
        for (let tries = 1; ; tries++) {
          if (tries <= maxTries) contents = yield* fill(config, count, contents)
          if (contents.length === 0) {
            return yield* fieldFault(
              "loot_box_type_id",
              "eligibility",
              "There are not enough free emoji ids for a lootbox of this type.",
            )
          }
          const written = yield* boxes.putDrafts(typeId, contents.map(boxed)).pipe(
            // Another request has claimed drawn ids first. The lootboxes with these ids are drawn again.
            Effect.catchTag("IdsTaken", ({ canonicals }) => {
              contents = contents.filter(
                (ids) => !ids.some(({ canonical }) => canonicals.includes(canonical)),
              )
              return Effect.succeed(undefined)
            }),
          )
          if (written !== undefined) return written
        }
      })

      return LootboxGeneration.of({
        createType: Effect.fnUntraced(function* (type) {
          yield* checkTypeConfig(type.config, secureRandom)
          return yield* types.create(type)
        }),
        generate: Effect.fnUntraced(function* (viewer, typeId, count) {
          const ids = yield* atMostOnce(generate(typeId, count))
          return yield* views.show(viewer, yield* boxes.findMany(ids))
        }),
      })
    }),
  )
}

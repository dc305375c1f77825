import { Context, Effect, Layer } from "effect"
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
import { uuidOf } from "../turns/operation-key.ts"
import { makeFindClaimed } from "./claim-store.ts"
import { checkTypeConfig, drawId, drawSlots } from "./draw.ts"
import type { LootboxRow } from "./lootbox-store.ts"
import { LootboxTypes } from "./lootbox-type-store.ts"
import { LootboxViews } from "./lootbox-view.ts"
import { Lootboxes } from "./lootboxes.ts"
import { boxed } from "./rules.ts"

const maxRounds = 24
// In the first rounds, one candidate is drawn for each slot, because most drawn ids are free. If slots are still
// empty after that, few ids are free, and later rounds draw several candidates for each slot.
const quickRounds = 2
const candidatesPerSlot = 8
const maxTriesPerBox = 5

const isFound = (id: EmojiId | undefined): id is EmojiId => id !== undefined

/** Creates lootbox types, and generates lootboxes of a type from ids that are free and on sale. */
export class LootboxGeneration extends Context.Service<
  LootboxGeneration,
  {
    /** Creates a type. A repeated call with the same operation key returns the type of the first call. */
    createType(
      type: { readonly name: string; readonly description: string; readonly config: LootBoxTypeConfig },
      run: string,
    ): Effect.Effect<PublicLootBoxType, Unprocessable | Unavailable>
    /**
     * Creates lootboxes with status Draft. Creates fewer than `count` if there are not enough free ids, and fails if
     * there are too few for one lootbox. A repeated call with the same operation key returns the lootboxes of the
     * first call and creates only the missing ones.
     */
    generate(
      viewer: Principal,
      typeId: string,
      count: number,
      run?: string,
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

      /** Finds a different free id for every slot. Undefined if there are not enough free ids. */
      const drawContents = Effect.fnUntraced(function* (config: LootBoxTypeConfig) {
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
            const free = ids.find(({ canonical }) => !claimed.has(canonical) && !found.has(canonical))
            if (free === undefined) return [slot]
            found.set(free.canonical, free)
            return []
          })
        }
        return open.length === 0 ? [...found.values()] : undefined
      })

      const generateOne = Effect.fnUntraced(function* (
        typeId: string,
        config: LootBoxTypeConfig,
        run: string | undefined,
      ) {
        const { id, made } = yield* boxes.findMade(run)
        if (made !== undefined) return made
        for (let tries = 0; tries < maxTriesPerBox; tries++) {
          const contents = yield* drawContents(config)
          if (contents === undefined) return undefined
          // Another request can claim one of the drawn ids first. The next attempt then draws other ids.
          const row = yield* boxes
            .put(boxed(contents), "Draft", { id, typeId })
            .pipe(
              Effect.catchTag(["Conflict", "Unprocessable", "Forbidden"], () => Effect.succeed(undefined)),
            )
          if (row !== undefined) return row
        }
        return undefined
      })

      return LootboxGeneration.of({
        createType: Effect.fnUntraced(function* (type, run) {
          yield* checkTypeConfig(type.config, secureRandom)
          return yield* types.create(type, run)
        }),
        generate: Effect.fnUntraced(function* (viewer, typeId, count, run) {
          if (count < 1 || count > maxBoxesPerRequest) {
            return yield* fieldFault(
              "num_boxes",
              "range",
              `num_boxes must be between 1 and ${maxBoxesPerRequest}.`,
            )
          }
          const { config } = yield* types.get(typeId)
          const rows: Array<LootboxRow> = []
          while (rows.length < count) {
            const name = run === undefined ? undefined : uuidOf(run, String(rows.length))
            const row = yield* generateOne(typeId, config, name)
            if (row === undefined) break
            rows.push(row)
          }
          if (rows.length === 0) {
            return yield* fieldFault(
              "loot_box_type_id",
              "eligibility",
              "There are not enough free emoji ids for a lootbox of this type.",
            )
          }
          return yield* views.show(viewer, rows)
        }),
      })
    }),
  )
}

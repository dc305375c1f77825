import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { type Client, Sql } from "../postgres/sql.ts"

export type DemoKind = "user" | "client" | "code" | "lootbox" | "organization" | "id"

/** An item of the demo data that is still in the database. */
export interface DemoItem {
  readonly kind: DemoKind
  /** The id of its row, the client_id, or the canonical form of an emoji id. */
  readonly target: string
  /** The name in the seed. */
  readonly name: string
  /** The current name for operators, such as the current email of a user. */
  readonly shown: string
  /** An active user, a lootbox on sale or unopened, or a code with uses left. */
  readonly usable: boolean
  /** The hash that the demo stored last, and the source of its secret. */
  readonly secret_hash: string | null
  readonly secret_from: string | null
  /** The currently stored hash. */
  readonly current_hash: string | null
}

/** Used at startup, when there is a connection but no service yet. */
export const readDemoItems = (q: Client): Promise<ReadonlyArray<DemoItem>> =>
  q<Array<DemoItem>>`select * from demo_items_left() order by kind, shown`

interface NewItem {
  readonly kind: DemoKind
  readonly name: string
  /** Default: a new id. */
  readonly target?: string
  readonly secret?: { readonly hash: string; readonly from: string }
}

/** Records which rows the demo data created. */
export class DemoItems extends Context.Service<
  DemoItems,
  {
    /** Call before creating the item, so that a crash leaves no unrecorded item. Returns the id for the new item. */
    note(item: NewItem): Effect.Effect<string, Unavailable>
    setSecret(
      item: Pick<DemoItem, "kind" | "target">,
      secret: { readonly hash: string; readonly from: string },
    ): Effect.Effect<void, Unavailable>
    readonly left: Effect.Effect<ReadonlyArray<DemoItem>, Unavailable>
    /** The pending orders of a lootbox, or the pending transfers of an id. */
    holdersOf(claim: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Deletes all records. The next start with demo data seeds it again. */
    readonly deleteAll: Effect.Effect<void, Unavailable>
  }
>()("directory/DemoItems") {
  static readonly layer = Layer.effect(
    DemoItems,
    Effect.gen(function* () {
      const sql = yield* Sql
      return DemoItems.of({
        note: Effect.fnUntraced(function* ({ kind, name, secret, target = randomUUID() }) {
          yield* sql.rows(
            (q) => q`insert into demo_item (kind, target, name, secret_hash, secret_from)
                     values (${kind}, ${target}, ${name}, ${secret?.hash ?? null}, ${secret?.from ?? null})
                     on conflict (kind, target) do nothing`,
          )
          return target
        }),
        setSecret: ({ kind, target }, { from, hash }) =>
          sql
            .rows(
              (q) => q`update demo_item set secret_hash = ${hash}, secret_from = ${from}
                        where kind = ${kind} and target = ${target}`,
            )
            .pipe(Effect.asVoid),
        left: sql.rows<DemoItem>((q) => q`select * from demo_items_left() order by kind, shown`),
        holdersOf: (claim) =>
          sql
            .rows<{ holder: string }>(
              (q) => q`select holder::text as holder from claim
                        where canonical = ${claim} and kind in ('order', 'transfer')`,
            )
            .pipe(Effect.map((rows) => rows.map(({ holder }) => holder))),
        deleteAll: sql
          .rows(
            (
              q,
            ) => q`with items as (delete from demo_item returning 1), parts as (delete from demo_part returning 1)
                     select count(*) from items, parts`,
          )
          .pipe(Effect.asVoid),
      })
    }),
  )
}

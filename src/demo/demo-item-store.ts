import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { Client } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"

export type DemoKind = "user" | "client" | "code" | "lootbox" | "organization" | "id"

/** An item of the demo data that is still in the database. */
export interface DemoItem {
  readonly kind: DemoKind
  /** The id of the item's row. For an OAuth client it is the client_id, for an emoji id the canonical form. */
  readonly target: string
  /** The name that the item had when it was seeded, such as the email of a user. */
  readonly name: string
  /** The name to show to operators, such as the current email of a user. */
  readonly shown: string
  /**
   * Whether the item can still be used. A user must be active. A code must be valid and have uses left. A lootbox
   * must be for sale, or unopened with an active owner. For other kinds the value is always true.
   */
  readonly usable: boolean
  /** The hash of the secret that the demo set last. Null if the item has no secret. */
  readonly secret_hash: string | null
  /** The source of the secret that the demo set last: `published`, or the id of a master secret. */
  readonly secret_from: string | null
  /**
   * The hash of the current password of a user, or of the current secret of an OAuth client. Null if there is none.
   */
  readonly current_hash: string | null
}

/** Lists the demo data that is still in the database. Startup calls this function before the services exist. */
export const readDemoItems = (q: Client): Promise<ReadonlyArray<DemoItem>> =>
  q<Array<DemoItem>>`select * from demo_items_left() order by kind, shown`

interface NewItem {
  readonly kind: DemoKind
  readonly name: string
  /** The default is a new random id. */
  readonly target?: string
  readonly secret?: { readonly hash: string; readonly from: string }
}

/** The list of the items that the demo data created. */
export class DemoItems extends Context.Service<
  DemoItems,
  {
    /**
     * Adds an item to the list and returns its id. Call it before the item is created, so that a crash leaves no
     * unlisted item.
     */
    note(item: NewItem): Effect.Effect<string, Unavailable>
    setSecret(
      item: Pick<DemoItem, "kind" | "target">,
      secret: { readonly hash: string; readonly from: string },
    ): Effect.Effect<void, Unavailable>
    readonly left: Effect.Effect<ReadonlyArray<DemoItem>, Unavailable>
    /**
     * Returns the ids of the pending orders and transfers that hold a claim. `claim` is the key of a lootbox or a
     * canonical emoji id.
     */
    holdersOf(claim: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Empties the list, and forgets which parts were seeded. The next start with demo data seeds all parts again. */
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

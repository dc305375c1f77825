import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { type Client, Sql } from "../postgres/sql.ts"

export type DemoKind = "user" | "client" | "code" | "lootbox" | "organization" | "id"

/** Demo data that is still in the database. */
export interface DemoItem {
  readonly kind: DemoKind
  /** The id of its row, the client_id, or the canonical form of an emoji id. */
  readonly target: string
  /** What the seed calls it. */
  readonly name: string
  /** What an operator knows it by today, such as the email a user has now. */
  readonly shown: string
  /** Active, on sale, or not used up. */
  readonly usable: boolean
  /** The hash that the demo stored last, and which secret it is of. */
  readonly secret_hash: string | null
  readonly secret_from: string | null
  /** The hash that is stored now. */
  readonly current_hash: string | null
}

/** For a start, which has a connection before it has services. */
export const readDemoItems = (q: Client): Promise<ReadonlyArray<DemoItem>> =>
  q<Array<DemoItem>>`select * from demo_items_left() order by kind, shown`

interface NewItem {
  readonly kind: DemoKind
  readonly name: string
  /** Without it a new id. */
  readonly target?: string
  readonly secret?: { readonly hash: string; readonly from: string }
}

/** The record of what the demo data created. */
export class DemoItems extends Context.Service<
  DemoItems,
  {
    /** Before the item is created, so that a crash in between leaves nothing unknown. Answers the id to create it under. */
    note(item: NewItem): Effect.Effect<string, Unavailable>
    setSecret(
      item: Pick<DemoItem, "kind" | "target">,
      secret: { readonly hash: string; readonly from: string },
    ): Effect.Effect<void, Unavailable>
    readonly left: Effect.Effect<ReadonlyArray<DemoItem>, Unavailable>
    /** Orders that are about to buy the box, and transfers that hold the id. */
    holdersOf(claim: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Nothing of the demo is known any more, and the next start with demo data seeds it again. */
    readonly forgetAll: Effect.Effect<void, Unavailable>
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
        forgetAll: sql
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

import { Effect } from "effect"
import { Sql } from "../postgres/sql.ts"
import type { MarketParameters } from "./market-parameters.ts"

export interface HeldRow {
  readonly canonical: string
  readonly kind: "owned" | "order" | "lootbox" | "transfer"
  readonly minted: boolean
  readonly generation: number | null
}

/** Reads and writes the market parameters, and reads the claims that decide whether an id is for sale. */
export const makeMarketStore = Effect.map(Sql, (sql) => ({
  /** Stores these parameters if no parameters are stored yet. */
  insertParameters: (parameters: MarketParameters) =>
    sql.rows(
      (q) => q`insert into price_parameters (parameters) values (${JSON.stringify(parameters)}::text::jsonb)
               on conflict do nothing`,
    ),
  findParameters: () =>
    sql
      .rows<{ parameters: MarketParameters }>((q) => q`select parameters from price_parameters`)
      .pipe(Effect.map(([row]) => row?.parameters)),
  /** Replaces the parameters, and queues notices for the users who have an interest in the released ids. */
  putParameters: (parameters: MarketParameters, released: Array<string>) =>
    sql.write.rows<unknown>(
      (q) => q`select put_price_parameters(${JSON.stringify(parameters)}::text::jsonb, ${released})`,
    ),
  /** Returns those of the ids that are registered or claimed, as a map by canonical id. */
  findHeld: (canonicals: Array<string>) =>
    sql
      .rows<HeldRow>(
        (q) => q`select canonical, coalesce(c.kind, 'owned') as kind,
                        e.minted_at is not null as minted, e.generation
                   from (select * from claim where canonical = any(${canonicals})) c
                   full join (select * from emoji_id where canonical = any(${canonicals})) e using (canonical)`,
      )
      .pipe(
        Effect.map((rows): ReadonlyMap<string, HeldRow> => new Map(rows.map((row) => [row.canonical, row]))),
      ),
  /** Returns the unclaimed ids in which at least one user has an interest. */
  findWantedIds: () =>
    sql.rows<{ canonical: string }>(
      (q) => q`select distinct canonical from user_interest i
                where not exists (select 1 from claim c where c.canonical = i.canonical)`,
    ),
}))

import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { ChannelPosition } from "../../actors/ports.ts"
import { type EmojiId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { Registration } from "../../schema/directory/emoji-list-item.ts"
import { viewWindowDays } from "../../schema/directory/metric.ts"
import type { DisplayRecord } from "../../schema/directory/records/record.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { arrayList, arrayQuery, type Page, type PageRequest } from "../../schema/paging.ts"
import type { Client } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"
import { idsOfOrganization, idsOfUser } from "./id-ranges-store.ts"

export interface Registered extends Registration {
  readonly id: EmojiId
}

/**
 * Selects the ids of a user or of an organization. A user has the ids that they own and those of their keys. With
 * `canonical` it selects one id of the user.
 */
export type IdFilter =
  | { readonly ownedBy: string; readonly canonical?: string }
  | { readonly organizationId: string }

const maxIdsListed = 10_000
/** The list of the ids of a user, in the order of their registration. */
const userIdList = arrayList("ids_of_user", "Asc", ["integer"], maxIdsListed)
/** The list of the ids of an organization, by their keys. */
const organizationIdList = arrayList("ids_of_organization", "Asc", ["text", "uuid", "integer"], maxIdsListed)

export const idListOf = (filter: IdFilter) => ("ownedBy" in filter ? userIdList : organizationIdList)
export const idQuery = arrayQuery(userIdList)

export interface WriteFacts {
  readonly canonical: string
  readonly version: number
  readonly pubkey: string | null
  /**
   * True if the service stores the private key of `pubkey`, or if the id has no key. Edits of such an id need no
   * signature.
   */
  readonly isCustodial: boolean
  readonly mayWrite: boolean
  readonly records: ReadonlyArray<{ readonly hash: string; readonly singleKey: string | null }>
}

export interface RegisteredNow {
  readonly outcome: "registered"
  readonly listed: ListedId
  readonly events: ReadonlyArray<ChannelPosition>
}
export type RegisterOutcome =
  | RegisteredNow
  | { readonly outcome: "no_user" | "unproven" | "no_pubkey" | "taken" }
export interface DestroyedNow {
  readonly outcome: "destroyed"
  readonly events: ReadonlyArray<ChannelPosition>
}
export type DestroyOutcome =
  | DestroyedNow
  | { readonly outcome: "absent" | "in_transfer" | "minted" }
  | { readonly outcome: "mintable"; readonly until: string }

/** A registered id, as the list and the SQL function `listed_emoji_id` return it. */
export interface ListedId extends Registration {
  readonly canonical: string
}

/** The result of a statement that has changed an id: what its SQL function returned. */
export type IdResult<Result> = WriteOutcome<{ readonly result: Result }, undefined>
type Changed<Result> = Extract<Result, { readonly events: unknown }>

/** What a statement did to an id. If the result has events, the id has changed, and the result is written. */
export type WrittenId<Result> =
  | Exclude<Result, { readonly events: unknown }>
  | (Changed<Result> & { readonly written: Written<IdResult<Changed<Result>>> })

const toRegistered = (row: ListedId): ReadonlyArray<Registered> => {
  const id = parseEmojiId(row.canonical)
  return id._tag === "EmojiId" ? [{ ...row, id }] : []
}

export const toWrittenId = <Result extends object>(written: Written<IdResult<Result>>): WrittenId<Result> => {
  const { result } = written.outcome.rows[0]!
  return ("events" in result ? { ...result, written } : result) as WrittenId<Result>
}

/** Reads, registers and removes ids in the table of registered ids. */
export class EmojiIds extends Context.Service<
  EmojiIds,
  {
    page(filter: IdFilter, page: PageRequest): Effect.Effect<Page<Registered>, Unavailable>
    /** Lists the first ids. */
    list(filter: IdFilter, limit: number): Effect.Effect<ReadonlyArray<Registered>, Unavailable>
    findByToken(tokenId: number): Effect.Effect<Registered | undefined, Unavailable>
    /** Returns canonical ids, the most recently purchased first. */
    recentlyPurchased(limit: number): Effect.Effect<ReadonlyArray<string>, Unavailable>
    views(canonicals: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, number>, Unavailable>
    dailyViews(
      canonical: string,
    ): Effect.Effect<ReadonlyArray<{ readonly day: string; readonly views: number }>, Unavailable>
    findWriteFacts(
      canonical: string,
      userId: string,
      organizations: ReadonlyArray<string>,
    ): Effect.Effect<WriteFacts | undefined, Unavailable>
    register(request: {
      readonly canonical: string
      readonly display: DisplayRecord | undefined
      readonly user_id?: string | null | undefined
      readonly email?: string | null | undefined
      readonly pubkey?: string | null | undefined
    }): Effect.Effect<WrittenId<RegisterOutcome>, Unavailable>
    destroy(canonical: string): Effect.Effect<WrittenId<DestroyOutcome>, Unavailable>
  }
>()("directory/EmojiIds") {
  static readonly layer = Layer.effect(
    EmojiIds,
    Effect.gen(function* () {
      const sql = yield* Sql

      const pages = yield* makePages

      // These are the members of `listed_emoji_id`. The function is three times slower in a list, because Postgres
      // cannot inline it.
      const listed = (q: Client) => q`
        select e.canonical, e.generation, e.minted_at is not null as minted, e.token_id as "tokenId", e.version,
               case when e.blocked_until > now() then e.blocked_until end as "blockedUntil",
               (select r.data from record r where r.canonical = e.canonical and r.tag = 1
                 order by r.seq desc limit 1) as modifiers
          from emoji_id e`

      const page = (filter: IdFilter, request: PageRequest) =>
        Effect.map(
          pages.read<ListedId>(request, idListOf(filter).sorts.only, (q) =>
            "ownedBy" in filter
              ? {
                  ...idsOfUser(q, filter.ownedBy, filter.canonical),
                  item: q`${listed(q)} where e.token_id = p.k0`,
                }
              : {
                  ...idsOfOrganization(q, filter.organizationId),
                  item: q`${listed(q)} where e.token_id = p.k2`,
                },
          ),
          (found): Page<Registered> => ({ ...found, rows: found.rows.flatMap(toRegistered) }),
        )

      return EmojiIds.of({
        page,
        list: (filter, limit) =>
          Effect.map(
            page(filter, { dir: idListOf(filter).dir, limit, page: 0, sort: "only" }),
            ({ rows }) => rows,
          ),
        findByToken: (tokenId) =>
          Effect.map(
            sql.rows<ListedId>((q) => q`${listed(q)} where e.token_id = ${tokenId}::bigint`),
            (rows) => rows.flatMap(toRegistered)[0],
          ),
        recentlyPurchased: (limit) =>
          sql
            .rows<{ canonical: string }>(
              (q) => q`select canonical from emoji_id where source like 'order:%'
                        order by registered_at desc limit ${limit}`,
            )
            .pipe(Effect.map((rows) => rows.map(({ canonical }) => canonical))),
        views: (canonicals) =>
          sql
            .rows<{ canonical: string; views: number }>(
              (
                q,
              ) => q`select canonical, views_since(canonical, current_date - ${viewWindowDays - 1}::int) as views
                         from emoji_id where canonical = any(${canonicals as string[]})`,
            )
            .pipe(Effect.map((rows) => new Map(rows.map(({ canonical, views }) => [canonical, views])))),
        dailyViews: (canonical) =>
          sql.rows<{ day: string; views: number }>(
            (q) => q`select day::text as day, views from emoji_id_view
                      where canonical = ${canonical} and day > current_date - ${viewWindowDays}::int order by day desc`,
          ),
        findWriteFacts: (canonical, userId, organizations) =>
          sql
            .rows<WriteFacts>(
              (q) => q`select e.canonical, e.version, e.pubkey,
                              e.pubkey is null or k.sealed_key is not null as "isCustodial",
                              may_write(e, ${userId}::uuid, ${organizations as string[]}::uuid[]) as "mayWrite",
                              (select coalesce(json_agg(json_build_object('hash', r.hash, 'singleKey', r.single_key)), '[]')
                                 from record r where r.canonical = e.canonical) as records
                         from emoji_id e
                         left join pubkey k on k.pubkey = e.pubkey
                        where e.canonical = ${canonical}`,
            )
            .pipe(Effect.map(([row]) => row)),
        register: (request) =>
          sql.write
            .once<{ result: RegisterOutcome }>(
              (q) => q`select register_emoji_id(${JSON.stringify(request)}::text::jsonb) as result`,
              { when: (q) => q`effect.result->>'outcome' = 'registered'` },
            )
            .pipe(
              Effect.map(toWrittenId),
              Effect.catchTag("SqlRefused", (refused) =>
                refused.sqlstate === "EI002" || refused.sqlstate === "23505"
                  ? Effect.succeed<WrittenId<RegisterOutcome>>({ outcome: "taken" })
                  : refused.sqlstate === "EI003"
                    ? Effect.succeed<WrittenId<RegisterOutcome>>({ outcome: "no_user" })
                    : Effect.die(refused),
              ),
            ),
        destroy: (canonical) =>
          sql.write
            .once<{ result: DestroyOutcome }>((q) => q`select release_emoji_id(${canonical}) as result`, {
              when: (q) => q`effect.result->>'outcome' = 'destroyed'`,
            })
            .pipe(Effect.map(toWrittenId), Effect.catchTag("SqlRefused", Effect.die)),
      })
    }),
  )
}

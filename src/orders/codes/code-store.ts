import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import { NotFound, type Unavailable, Unprocessable } from "../../../schema/errors.ts"
import { type Code, type CodeAvailability, CodeType, type NewCode } from "../../../schema/orders/code.ts"
import { drawBounds, isIdPattern } from "../../../schema/orders/random-id-code.ts"
import { type CountedPage, type PageRequest, pagedList } from "../../../schema/paging.ts"
import { randomEmojiId } from "../../market/suggestions-random.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { makePages } from "../../postgres/pages.ts"
import { Sql } from "../../postgres/sql.ts"

type WrittenCode = Written<WriteOutcome<Code, undefined>>

export const codeList = pagedList("codes", { created_at: ["time", "uuid"], name: ["text", "uuid"] })

export interface CodeFilter {
  readonly codeType: Code["code_type"] | undefined
  readonly organizationId: string | undefined
}

const present = <K extends string, V>(key: K, value: V | null): Partial<Record<K, V>> =>
  value === null ? {} : ({ [key]: value } as Partial<Record<K, V>>)

export const showCode = (code: Code): CodeAvailability => ({
  id: code.id,
  name: code.name,
  code_type: code.code_type,
  activator: code.activator,
  total_uses: code.uses,
  created_at: code.created_at,
  updated_at: code.updated_at,
  ...present("available", code.max_uses === null ? null : code.max_uses - code.uses),
  ...present("deleted_at", code.deleted_at),
  ...present("discount_as_percentage", code.discount_as_percentage),
  ...present("discount_in_cents", code.discount_in_cents),
  ...present("end_date", code.end_date),
  ...present("max_emojis_per_user", code.max_emojis_per_user),
  ...present("max_uses", code.max_uses),
  ...present("organization_id", code.organization_id),
  ...present("pattern", code.pattern as {} | null),
  ...present("pubkeys", code.pubkeys ?? null),
  ...present("redemption_code", code.redemption_code),
  ...present("start_date", code.start_date),
})

/**
 * Stores discount codes and random id codes. The turns of orders count the uses of a code. If the order is cancelled or
 * becomes a draft again, its uses are subtracted.
 */
export class Codes extends Context.Service<
  Codes,
  {
    find(id: string): Effect.Effect<Code | undefined, Unavailable>
    findByRedemption(text: string): Effect.Effect<Code | undefined, Unavailable>
    /** The number of ids for which the user used the code. Includes the ids of pending orders. */
    usesOf(codeId: string, userId: string): Effect.Effect<number, Unavailable>
    list(
      filter: CodeFilter,
      page: PageRequest<keyof typeof codeList.sorts>,
    ): Effect.Effect<CountedPage<Code>, Unavailable>
    /** Creates a code. If the code with this id exists already, it is returned. */
    create(code: NewCode, id?: string): Effect.Effect<WrittenCode, Unprocessable | Unavailable>
    /** Deletes a code. Earlier uses stay valid, and a new code can have the same redemption code. */
    delete(id: string): Effect.Effect<WrittenCode, NotFound | Unavailable>
  }
>()("directory/Codes") {
  static readonly layer = Layer.effect(
    Codes,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const one = (rows: ReadonlyArray<Code>) => rows[0]

      return Codes.of({
        find: (id) => sql.rows<Code>((q) => q`select * from code where id = ${id}`).pipe(Effect.map(one)),
        findByRedemption: (text) =>
          sql
            .rows<Code>(
              (q) =>
                q`select * from code where upper(redemption_code) = upper(${text}) and deleted_at is null`,
            )
            .pipe(Effect.map(one)),
        usesOf: (codeId, userId) =>
          sql
            .rows<{ uses: number }>(
              (q) => q`select coalesce(sum(count), 0)::int as uses from code_use
                        where code_id = ${codeId} and user_id = ${userId}`,
            )
            .pipe(Effect.map((rows) => rows[0]?.uses ?? 0)),
        list: ({ codeType, organizationId }, page) =>
          pages.readCounted<Code>(
            page,
            codeList.sorts[page.sort],
            ["codes", codeType, organizationId],
            (q) => {
              const isOf = organizationId === undefined ? q`true` : q`organization_id = ${organizationId}`
              const types = codeType === undefined ? CodeType.literals : [codeType]
              return {
                ranges: types.map((type) => q`code where code_type = ${type} and ${isOf}`),
                keys: [page.sort === "name" ? q`name` : q`created_at`, q`id`],
                item: q`select code.*, (select jsonb_agg(jsonb_build_object('pubkey', k.pubkey, 'kind', k.kind)
                                                       order by k.created_at, k.pubkey)
                                        from code_pubkey k where k.code_id = code.id) as pubkeys
                        from code where code.id = p.k1`,
              }
            },
          ),
        create: Effect.fnUntraced(function* (given, id = randomUUID()) {
          const code = { id, ...(yield* checkNew(given)) }
          return yield* sql.write
            .attempt<Code>(
              (q) =>
                q`insert into code ${q(code as never)} on conflict (id) do update set id = excluded.id returning *`,
            )
            .pipe(
              Effect.catchTag("SqlRefused", ({ constraint, sqlstate }) => {
                if (sqlstate === "23505")
                  return Effect.fail(
                    new Unprocessable({
                      fields: {
                        redemption_code: [
                          {
                            code: "uniqueness",
                            message: "Another code uses this redemption code. Choose another one.",
                          },
                        ],
                      },
                    }),
                  )
                if (sqlstate === "23503")
                  return Effect.fail(
                    new Unprocessable({
                      fields: { organization_id: [{ code: "unknown", message: "Organization not found." }] },
                    }),
                  )
                return Effect.die(`${sqlstate} ${constraint}`)
              }),
            )
        }),
        delete: Effect.fnUntraced(function* (id) {
          const written = yield* sql.write.rows<Code>(
            (q) => q`update code set deleted_at = coalesce(deleted_at, now()), updated_at = now()
                      where id = ${id} returning *`,
          )
          return written.outcome.rows.length > 0 ? written : yield* new NotFound({ error: "Code not found." })
        }),
      })
    }),
  )
}

/**
 * Whether an id that matches the pattern can be found. Draws a random id in the same way as an activation of the code.
 */
const givesIds = (pattern: unknown): boolean =>
  randomEmojiId({ ...drawBounds(pattern), random: Math.random }) !== undefined

/** Checks the pattern and the rules that concern several fields, and sets the defaults of missing fields. */
const checkNew = (given: NewCode) =>
  Effect.gen(function* () {
    const fields: Record<string, ReadonlyArray<{ code: string; message: string }>> = {}
    const activator = given.activator ?? (given.code_type === "Discount" ? "RedemptionCode" : "SecretKey")
    const amounts = [given.discount_as_percentage, given.discount_in_cents].filter((amount) => amount != null)
    if (given.code_type === "Discount" && amounts.length !== 1) {
      const message = "Send either discount_as_percentage or discount_in_cents."
      fields["discount_as_percentage"] = [{ code: "one_of", message }]
    }
    // The random id is always free. Existing clients say so with a discount of 100 percent.
    const isFree = given.discount_as_percentage === 100 && amounts.length === 1
    if (given.code_type === "RandomYat" && amounts.length > 0 && !isFree) {
      const message =
        "A random id is always free. Send discount_as_percentage 100, or neither discount_as_percentage nor discount_in_cents."
      fields["discount_as_percentage"] = [{ code: "not_allowed", message }]
    }
    if (given.pattern != null && !isIdPattern(given.pattern)) {
      const message =
        "Use only min_length, max_length, min_score and max_score, with each minimum at most its maximum."
      fields["pattern"] = [{ code: "invalid", message }]
    }
    if (given.code_type === "RandomYat" && fields["pattern"] === undefined && !givesIds(given.pattern)) {
      fields["pattern"] = [{ code: "range", message: "No emoji id has this length and this score." }]
    }
    if (given.code_type === "RandomYat" && given.organization_id != null && activator === "RedemptionCode") {
      const message = "A random id code of an organization must have the activator SecretKey."
      fields["activator"] = [{ code: "not_allowed", message }]
    }
    if (activator === "RedemptionCode" && given.redemption_code == null) {
      fields["redemption_code"] = [
        { code: "required", message: "Required for the activator RedemptionCode." },
      ]
    }
    if (
      given.start_date != null &&
      given.end_date != null &&
      Date.parse(given.start_date) >= Date.parse(given.end_date)
    ) {
      fields["end_date"] = [{ code: "order", message: "The end_date must be after the start_date." }]
    }
    if (Object.keys(fields).length > 0) {
      return yield* new Unprocessable({ error: "The code is not valid. See the fields for details.", fields })
    }
    return {
      name: given.name,
      code_type: given.code_type,
      activator,
      redemption_code: given.redemption_code ?? null,
      organization_id: given.organization_id ?? null,
      discount_as_percentage: given.discount_as_percentage ?? null,
      discount_in_cents: given.discount_in_cents ?? null,
      max_uses: given.max_uses ?? null,
      max_emojis_per_user: given.max_emojis_per_user ?? null,
      pattern: given.pattern ?? null,
      start_date: given.start_date ?? null,
      end_date: given.end_date ?? null,
    }
  })

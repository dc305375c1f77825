import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { NotFound, type Unavailable, Unprocessable } from "../../../schema/errors.ts"
import type { Code, CodeAvailability, NewCode } from "../../../schema/orders/code.ts"
import { drawBounds, isIdPattern } from "../../../schema/orders/random-id-code.ts"
import type { PageRequest } from "../../../schema/paging.ts"
import { randomEmojiId } from "../../market/suggestions-random.ts"
import { Sql } from "../../postgres/sql.ts"
import { insertIdempotent, onConflictReuse } from "../../turns/insert-idempotent.ts"

export interface CodeFilter {
  readonly codeType: Code["code_type"] | undefined
  readonly organizationId: string | undefined
}

const refuse = (code: string, message: string) =>
  new Unprocessable({ error: message, fields: { code: [{ code, message }] } })

/** Whether the code can be used now; how often is the database's to say when it is. */
export const checkUsable = (code: Code, type: Code["code_type"], now: number) =>
  Effect.gen(function* () {
    if (code.deleted_at !== null) return yield* refuse("unknown", "There is no such code.")
    if (code.code_type !== type) return yield* refuse("wrong_type", `This is not a code for that.`)
    if (code.start_date !== null && now < Date.parse(code.start_date))
      return yield* refuse("not_started", "The code is not valid yet.")
    if (code.end_date !== null && now >= Date.parse(code.end_date))
      return yield* refuse("ended", "The code is no longer valid.")
    if (code.max_uses !== null && code.uses >= code.max_uses)
      return yield* refuse("used_up", "The code is used up.")
  })

export const usedUp = (limit: string): Unprocessable =>
  limit === "code_uses_per_user"
    ? refuse("used_up_by_user", "You have used this code as often as it allows.")
    : refuse("used_up", "The code is used up.")

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
  ...present("redemption_code", code.redemption_code),
  ...present("start_date", code.start_date),
})

/** Codes that lower a price or give an id. Uses are taken and given back by the turns of orders. */
export class Codes extends Context.Service<
  Codes,
  {
    find(id: string): Effect.Effect<Code | undefined, Unavailable>
    findByRedemption(text: string): Effect.Effect<Code | undefined, Unavailable>
    /** Ids this user has got with the code, on their way included. */
    usesOf(codeId: string, userId: string): Effect.Effect<number, Unavailable>
    list(
      filter: CodeFilter,
      page: PageRequest,
    ): Effect.Effect<{ readonly codes: ReadonlyArray<Code>; readonly total: number }, Unavailable>
    /** The same `run` twice is one code. */
    create(code: NewCode, run?: string): Effect.Effect<Code, Unprocessable | Unavailable>
    /** Uses made stay made; the code is no longer found by its text. */
    delete(id: string): Effect.Effect<Code, NotFound | Unavailable>
  }
>()("directory/Codes") {
  static readonly layer = Layer.effect(
    Codes,
    Effect.gen(function* () {
      const sql = yield* Sql
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
        list: Effect.fnUntraced(function* ({ codeType, organizationId }, page) {
          // The count is there also where the page is past the last code.
          const rows = yield* sql.rows<{ readonly total: number } & (Code | { readonly id: null })>((q) => {
            const wanted = q`true ${codeType === undefined ? q`` : q`and code_type = ${codeType}`}
              ${organizationId === undefined ? q`` : q`and organization_id = ${organizationId}`}`
            const order = q`order by ${page.sort === "name" ? q`name` : q`created_at`}
              ${page.dir === "Asc" ? q`asc` : q`desc`}, id`
            return q`select c.*, t.total from (select count(*) as total from code where ${wanted}) t
                       left join (select * from code where ${wanted} ${order}
                                   limit ${page.limit} offset ${page.page * page.limit}) c on true ${order}`
          })
          return { codes: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 }
        }),
        create: Effect.fnUntraced(function* (given, run = randomUUID()) {
          const code = yield* checkNew(given)
          return yield* insertIdempotent(run, (id) =>
            sql.attempt<Code>(
              (q) =>
                q`insert into code ${q({ id, ...code } as never)} ${onConflictReuse(q, "code")} returning *`,
            ),
          ).pipe(
            Effect.catchTag("SqlRefused", ({ constraint, sqlstate }) => {
              if (sqlstate === "23505")
                return Effect.fail(
                  new Unprocessable({
                    fields: {
                      redemption_code: [{ code: "uniqueness", message: "in use by another code" }],
                    },
                  }),
                )
              if (sqlstate === "23503")
                return Effect.fail(
                  new Unprocessable({
                    fields: { organization_id: [{ code: "unknown", message: "no such organization" }] },
                  }),
                )
              return Effect.die(`${sqlstate} ${constraint}`)
            }),
          )
        }),
        delete: Effect.fnUntraced(function* (id) {
          const [row] = yield* sql.rows<Code>(
            (q) => q`update code set deleted_at = coalesce(deleted_at, now()), updated_at = now()
                      where id = ${id} returning *`,
          )
          return row ?? (yield* new NotFound({ error: "There is no such code." }))
        }),
      })
    }),
  )
}

/** Found out as its users would: by drawing one. */
const givesIds = (pattern: unknown): boolean =>
  randomEmojiId({ ...drawBounds(pattern), random: Math.random }) !== undefined

/** What only makes sense together: a discount says how much, and a code people type has a text. */
const checkNew = (given: NewCode) =>
  Effect.gen(function* () {
    const fields: Record<string, ReadonlyArray<{ code: string; message: string }>> = {}
    const activator = given.activator ?? (given.code_type === "Discount" ? "RedemptionCode" : "SecretKey")
    const amounts = [given.discount_as_percentage, given.discount_in_cents].filter((amount) => amount != null)
    if (given.code_type === "Discount" && amounts.length !== 1) {
      const message = "a discount has either a percentage or an amount in cents"
      fields["discount_as_percentage"] = [{ code: "one_of", message }]
    }
    if (given.code_type === "RandomYat" && amounts.length > 0) {
      fields["discount_as_percentage"] = [{ code: "not_allowed", message: "a random id is free" }]
    }
    if (given.pattern != null && !isIdPattern(given.pattern)) {
      const message = "expected some of min_length, max_length, min_score and max_score"
      fields["pattern"] = [{ code: "invalid", message }]
    }
    if (given.code_type === "RandomYat" && fields["pattern"] === undefined && !givesIds(given.pattern)) {
      fields["pattern"] = [{ code: "range", message: "no id has such a length and such a score" }]
    }
    if (activator === "RedemptionCode" && given.redemption_code == null) {
      fields["redemption_code"] = [{ code: "required", message: "needed by this activator" }]
    }
    if (
      given.start_date != null &&
      given.end_date != null &&
      Date.parse(given.start_date) >= Date.parse(given.end_date)
    ) {
      fields["end_date"] = [{ code: "order", message: "must be after the start" }]
    }
    if (Object.keys(fields).length > 0) {
      return yield* new Unprocessable({ error: "The code makes no sense as it is.", fields })
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

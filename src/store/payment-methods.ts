import { Context, Effect, Layer } from "effect"
import { NotFound, type Unavailable } from "../../schema/errors.ts"
import type { PaymentMethod } from "../../schema/order.ts"
import { Sql } from "./sql.ts"

interface Row {
  readonly id: string
  readonly provider: string
  readonly payment_type: string
  readonly brand: string | null
  readonly country: string | null
  readonly last4: string | null
  readonly exp_month: number | null
  readonly exp_year: number | null
  readonly is_default: boolean
}
export interface StoredMethod {
  readonly provider: string
  readonly shown: PaymentMethod
}

const toMethod = ({ provider, ...row }: Row): StoredMethod => ({
  provider,
  shown: Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== null),
  ) as unknown as PaymentMethod,
})

const maxListed = 100

/** How a user has paid before. */
export class PaymentMethods extends Context.Service<
  PaymentMethods,
  {
    list(userId: string): Effect.Effect<ReadonlyArray<PaymentMethod>, Unavailable>
    remember(userId: string, provider: string, method: PaymentMethod): Effect.Effect<void, Unavailable>
    delete(userId: string, id: string): Effect.Effect<StoredMethod, NotFound | Unavailable>
    setDefault(userId: string, id: string): Effect.Effect<PaymentMethod, NotFound | Unavailable>
  }
>()("directory/PaymentMethods") {
  static readonly layer = Layer.effect(
    PaymentMethods,
    Effect.gen(function* () {
      const sql = yield* Sql
      const notFound = new NotFound({ error: "There is no such payment method." })

      return PaymentMethods.of({
        list: (userId) =>
          sql
            .rows<Row>(
              (
                q,
              ) => q`select id, provider, payment_type, brand, country, last4, exp_month, exp_year, is_default
                         from payment_method where user_id = ${userId} and deleted_at is null
                        order by is_default desc, created_at desc, id limit ${maxListed}`,
            )
            .pipe(Effect.map((rows) => rows.map((row) => toMethod(row).shown))),
        remember: (userId, provider, method) =>
          sql
            .rows(
              (q) => q`insert into payment_method
                         (id, user_id, provider, payment_type, brand, country, last4, exp_month, exp_year, is_default)
                       values (${method.id}, ${userId}, ${provider}, ${method.payment_type}, ${method.brand ?? null},
                               ${method.country ?? null}, ${method.last4 ?? null}, ${method.exp_month ?? null},
                               ${method.exp_year ?? null},
                               not exists (select 1 from payment_method m
                                            where m.user_id = ${userId} and m.deleted_at is null))
                       on conflict (id) do nothing`,
            )
            .pipe(Effect.asVoid),
        delete: Effect.fnUntraced(function* (userId, id) {
          const [row] = yield* sql.rows<Row>(
            (q) => q`update payment_method set deleted_at = coalesce(deleted_at, now()), is_default = false
                      where id = ${id} and user_id = ${userId} and deleted_at is null
                  returning id, provider, payment_type, brand, country, last4, exp_month, exp_year, is_default`,
          )
          return row === undefined ? yield* notFound : toMethod(row)
        }),
        setDefault: Effect.fnUntraced(function* (userId, id) {
          const rows = yield* sql.rows<Row>(
            (q) => q`update payment_method m set is_default = (m.id = ${id})
                      where m.user_id = ${userId} and m.deleted_at is null
                        and exists (select 1 from payment_method x
                                     where x.id = ${id} and x.user_id = ${userId} and x.deleted_at is null)
                  returning id, provider, payment_type, brand, country, last4, exp_month, exp_year, is_default`,
          )
          const chosen = rows.find((row) => row.id === id)
          return chosen === undefined ? yield* notFound : toMethod(chosen).shown
        }),
      })
    }),
  )
}

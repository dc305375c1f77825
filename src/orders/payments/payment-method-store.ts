import { Context, Effect, Layer } from "effect"
import { unchanged, type Written } from "../../../actors/operation.ts"
import { NotFound, type Unavailable } from "../../../schema/errors.ts"
import type { PaymentMethod } from "../../../schema/orders/order.ts"
import { arrayList, type Page, type PageRequest } from "../../../schema/paging.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { Client } from "../../postgres/client.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { makePages } from "../../postgres/pages.ts"
import { Sql } from "../../postgres/sql.ts"

interface MethodRow {
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
type MethodRows = WriteOutcome<MethodRow, undefined>

export const toMethod = ({ provider: _, ...row }: MethodRow): PaymentMethod =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as PaymentMethod

/** The list of payment methods: the default one first, then the newest ones. */
export const methodList = arrayList("payment_methods", "Desc", ["boolean", "time", "text"], 100)
const maxDetached = 100

/** The stored payment methods of users. */
export class PaymentMethods extends Context.Service<
  PaymentMethods,
  {
    list(userId: string, page: PageRequest): Effect.Effect<Page<PaymentMethod>, Unavailable>
    remember(userId: string, provider: string, method: PaymentMethod): Effect.Effect<void, Unavailable>
    /**
     * Deletes a payment method in the database. The caller then detaches it at the provider. Until that succeeds, a
     * repeated call returns the same result; afterwards it fails with 404.
     */
    delete(userId: string, id: string): Effect.Effect<Written<MethodRows>, NotFound | Unavailable>
    /** Records that the provider has detached a deleted payment method. */
    markDetached(id: string): Effect.Effect<void, Unavailable>
    /** Lists deleted payment methods that these providers have not detached within a minute. */
    listToDetach(
      providers: ReadonlyArray<string>,
    ): Effect.Effect<ReadonlyArray<{ readonly id: string; readonly provider: string }>, Unavailable>
    setDefault(userId: string, id: string): Effect.Effect<Written<MethodRows>, NotFound | Unavailable>
  }
>()("directory/PaymentMethods") {
  static readonly layer = Layer.effect(
    PaymentMethods,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      // The payment methods of the sandbox are hidden if test payments are disabled.
      const hidden = (yield* AppConfig).takesTestPayments ? [] : ["sandbox"]
      const columns = (q: Client) =>
        q`id, provider, payment_type, brand, country, last4, exp_month, exp_year, is_default`
      const notFound = new NotFound({ error: "Payment method not found." })

      return PaymentMethods.of({
        list: (userId, page) =>
          Effect.map(
            pages.read<MethodRow>(page, methodList.sorts.only, (q) => ({
              ranges: [
                q`payment_method where user_id = ${userId} and deleted_at is null and provider <> all(${hidden})`,
              ],
              keys: [q`is_default`, q`created_at`, q`id`],
              item: q`select ${columns(q)} from payment_method where id = p.k2`,
            })),
            (found) => ({ ...found, rows: found.rows.map(toMethod) }),
          ),
        remember: (userId, provider, method) =>
          sql
            .rows(
              (q) => q`insert into payment_method
                         (id, user_id, provider, payment_type, brand, country, last4, exp_month, exp_year, is_default)
                       select ${method.id}, u.id, ${provider}, ${method.payment_type}, ${method.brand ?? null},
                              ${method.country ?? null}, ${method.last4 ?? null}, ${method.exp_month ?? null}::int,
                              ${method.exp_year ?? null}::int,
                              not exists (select 1 from payment_method m
                                           where m.user_id = u.id and m.deleted_at is null
                                             and m.provider <> all(${hidden}))
                         from app_user u where u.id = ${userId} and u.deleted_at is null
                       on conflict (id) do nothing`,
            )
            .pipe(Effect.asVoid),
        delete: Effect.fnUntraced(function* (userId, id) {
          const written = yield* sql.write.rows<MethodRow>(
            (q) => q`update payment_method set deleted_at = now(), is_default = false
                      where id = ${id} and user_id = ${userId} and deleted_at is null
                  returning ${columns(q)}`,
          )
          if (written.outcome.rows.length > 0) return written
          const waiting = yield* sql.rows<MethodRow>(
            (q) => q`select ${columns(q)} from payment_method
                      where id = ${id} and user_id = ${userId} and deleted_at is not null
                        and id in (select f.id from method_to_forget f)`,
          )
          return waiting.length > 0 ? unchanged({ rows: waiting, keep: undefined }) : yield* notFound
        }),
        markDetached: (id) =>
          sql.rows((q) => q`delete from method_to_forget where id = ${id}`).pipe(Effect.asVoid),
        listToDetach: (providers) =>
          sql.rows<{ id: string; provider: string }>(
            (q) => q`select id, provider from method_to_forget
                      where provider = any(${providers as string[]}) and at < now() - interval '1 minute'
                      order by at limit ${maxDetached}`,
          ),
        setDefault: Effect.fnUntraced(function* (userId, id) {
          const written = yield* sql.write.rows<MethodRow>(
            (q) => q`update payment_method m set is_default = (m.id = ${id})
                      where m.user_id = ${userId} and m.deleted_at is null
                        and exists (select 1 from payment_method x
                                     where x.id = ${id} and x.user_id = ${userId} and x.deleted_at is null)
                  returning ${columns(q)}`,
          )
          return written.outcome.rows.length > 0 ? written : yield* notFound
        }),
      })
    }),
  )
}

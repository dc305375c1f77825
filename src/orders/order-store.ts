import { Context, Effect, Layer } from "effect"
import type { OrderContext } from "../../machines/orders/context.ts"
import { orderNumberDigits } from "../../machines/orders/effects.ts"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { InvalidRequest, Unavailable } from "../../schema/errors.ts"
import { type InvalidReason, OrderStatus } from "../../schema/orders/order.ts"
import { type CountedPage, type PageRequest, pagedList } from "../../schema/paging.ts"
import { Users } from "../accounts/user-store.ts"
import type { Client } from "../postgres/client.ts"
import { lateralKeys } from "../postgres/lateral-keys.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { batchWrites } from "../turns/batch-writes.ts"
import { entityItem, isKind, statusRanges } from "../turns/entity-pages.ts"
import { recordBatches } from "../turns/turn-metrics.ts"

export interface StoredOrder {
  readonly status: OrderStatus
  readonly context: OrderContext
}
/** Marks an item that is already claimed: since when, and for which reason. */
export interface Mark {
  readonly at: string
  readonly reason: InvalidReason
}
export interface Held extends Mark {
  readonly kind: "owned" | "order" | "lootbox" | "transfer"
}
/**
 * The result of reading claims. `claims` are the ids and lootbox keys that were looked up. `held` has the claims that
 * were found.
 */
export interface Seen {
  readonly claims: ReadonlySet<string>
  readonly held: ReadonlyMap<string, Held>
}
/** The part of a paid order from which the user's next cart is derived. */
export interface PaidOrder {
  readonly id: string
  readonly updatedAt: string
}
export interface NewestCart {
  readonly user: DisplayUser
  /** The newest order of the user. Undefined if the newest order is paid, or if the user has no orders. */
  readonly order: StoredOrder | undefined
  readonly paid: PaidOrder | undefined
  /** The claims on the items of a Draft or Cancelled order, and on the ids that the caller requested in addition. */
  readonly seen: Seen
}
export const orderList = pagedList("orders", {
  created_at: ["time", "uuid"],
  updated_at: ["time", "uuid"],
})
type OrderSort = keyof typeof orderList.sorts

export interface OrderFilter {
  readonly userId: string | undefined
  readonly status: OrderStatus | undefined
  /** True selects unpaid orders with money that was not refunded. False selects all other orders. */
  readonly holdsMoney: boolean | undefined
  /** The order number as printed on the receipt, in lower case. */
  readonly number?: string | undefined
}

interface CartRequest {
  readonly userId: string
  readonly also: ReadonlyArray<string>
  /** The user from the cache. If it is set, the query does not read the user. */
  readonly user: DisplayUser | undefined
}
interface CartRow {
  readonly n: number
  readonly user: DisplayUser | null
  readonly status: OrderStatus | null
  readonly context: OrderContext | null
  readonly paid: PaidOrder | null
  readonly held: Readonly<Record<string, { at: string; kind: Held["kind"] }>> | null
}
const maxCartsPerStatement = 32
/**
 * Statements that read one order by its id have the kind as a parameter. With a constant, Postgres could cache a plan with an
 * index for lists of orders, if it made the plan while the table was empty.
 */
const kind = "order"

const maxLooksPerStatement = 64
const nothingHeld: ReadonlyMap<string, Held> = new Map()

/** `PendingPurchase` if an order holds the id, because that hold can expire. All other claims make an id `Taken`. */
const toHeld = (at: string, kind: Held["kind"]): Held => ({
  at,
  kind,
  reason: kind === "order" ? "PendingPurchase" : "Taken",
})

/** The claims to look up for an order. Empty for pending and paid orders: other users cannot claim their items. */
export const claimsToSee = (order: StoredOrder | undefined): ReadonlyArray<string> =>
  order?.status === "Draft" || order?.status === "Cancelled"
    ? order.context.items.map(({ claim }) => claim).filter((claim) => claim !== undefined)
    : []

const toCart = (row: CartRow | undefined, { also, user: known }: CartRequest): NewestCart | undefined => {
  const user = known ?? row?.user ?? undefined
  if (row === undefined || user === undefined) return undefined
  const { context, held, paid, status } = row
  const order = status === null || context === null ? undefined : { status, context }
  return {
    user,
    order,
    paid: paid ?? undefined,
    seen: {
      claims: new Set([...claimsToSee(order), ...also]),
      held: new Map(Object.entries(held ?? {}).map(([claim, { at, kind }]) => [claim, toHeld(at, kind)])),
    },
  }
}

/** Reads orders for lists and carts. Changes of orders use `OrderActors`. */
export class Orders extends Context.Service<
  Orders,
  {
    /**
     * Reads a user, their newest order and the claims on its items with one statement. Undefined if the user does not
     * exist.
     */
    newestCart(
      userId: string,
      also?: ReadonlyArray<string>,
    ): Effect.Effect<NewestCart | undefined, Unavailable>
    findWithUser(
      id: string,
    ): Effect.Effect<{ readonly order: StoredOrder; readonly user: DisplayUser } | undefined, Unavailable>
    find(id: string): Effect.Effect<StoredOrder | undefined, Unavailable>
    /** Lists orders. Fails if `holdsMoney` or `number` selects too many orders to sort them. */
    list(
      filter: OrderFilter,
      page: PageRequest<OrderSort>,
    ): Effect.Effect<CountedPage<StoredOrder>, InvalidRequest | Unavailable>
    /**
     * Reads the claims on these ids. Concurrent calls share one statement, so the result can also contain ids of
     * other calls.
     */
    held(claims: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, Held>, Unavailable>
  }
>()("directory/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const sql = yield* Sql
      const metrics = yield* Metrics
      const pages = yield* makePages
      const users = yield* Users

      // With the lateral join, the planner looks up each user's newest order by index, even if table statistics are
      // wrong.
      const readCarts = (requests: ReadonlyArray<CartRequest>) => {
        const remember = users.watch()
        const wanted = JSON.stringify(
          requests.map(({ also, user, userId }, n) => ({
            n,
            user_id: userId,
            also,
            known: user !== undefined,
          })),
        )
        return sql
          .rows<CartRow>(
            (q) => q`select x.n, o.status, o.context, o.paid,
                            (select display_user(u) from app_user u where u.id = x.user_id and not x.known) as user,
                            (select jsonb_object_agg(c.canonical, jsonb_build_object(
                                      'at', wire_time(c.claimed_at), 'kind', c.kind))
                               from claim c where c.canonical = any(o.claims || x.also)) as held
                       from jsonb_to_recordset(${wanted}::text::jsonb) as x(n int, user_id uuid, also text[], known boolean)
                       left join lateral (
                         select e.status, case when e.status <> 'Paid' then e.state->'context' end as context,
                                case when e.status = 'Paid' then jsonb_build_object(
                                  'id', e.id, 'updatedAt', e.state->'context'->'updatedAt') end as paid,
                                case when e.status in ('Draft', 'Cancelled') then array(
                                  select i->>'claim' from jsonb_array_elements(e.state->'context'->'items') i) end as claims
                           from entity e where e.kind = 'order' and e.owner_id = x.user_id
                          order by e.created_at desc limit 1) o on true`,
          )
          .pipe(
            Effect.map((rows) => {
              const found = new Map(rows.map((row) => [row.n, row]))
              for (const { user } of rows) if (user !== null) remember(user)
              return requests.map((one, n) => Effect.succeed(toCart(found.get(n), one)))
            }),
          )
      }
      const newestCart = batchWrites({
        run: readCarts,
        maxStatements: Math.ceil(sql.poolSize / 2),
        maxAsks: maxCartsPerStatement,
        onStatement: recordBatches(metrics, "carts"),
      })

      const readClaims = (requests: ReadonlyArray<ReadonlyArray<string>>) =>
        sql
          .rows<{ canonical: string; kind: Held["kind"]; at: string }>(
            (q) => q`select c.canonical, c.kind, c.claimed_at as at
                       from ${lateralKeys(q, requests.flat())}
                      cross join lateral (select * from claim c where c.canonical = x.canonical offset 0) c`,
          )
          .pipe(
            Effect.map((rows) => {
              const held: ReadonlyMap<string, Held> = new Map(
                rows.map(({ at, canonical, kind }) => [canonical, toHeld(at, kind)]),
              )
              return requests.map(() => Effect.succeed(held))
            }),
          )
      const lookAtClaims = batchWrites({
        run: readClaims,
        maxStatements: Math.ceil(sql.poolSize / 2),
        maxAsks: maxLooksPerStatement,
        onStatement: recordBatches(metrics, "claims"),
      })

      return Orders.of({
        newestCart: (userId, also = []) => newestCart({ userId, also, user: users.remembered(userId) }),
        held: (claims) => (claims.length === 0 ? Effect.succeed(nothingHeld) : lookAtClaims(claims)),
        findWithUser: Effect.fnUntraced(function* (id) {
          const [row] = yield* sql.rows<StoredOrder & { readonly user: DisplayUser }>(
            (q) => q`select e.status, e.state->'context' as context, display_user(u) as user
                       from entity e join app_user u on u.id = e.owner_id where e.kind = ${kind} and e.id = ${id}`,
          )
          return row === undefined
            ? undefined
            : { order: { status: row.status, context: row.context }, user: row.user }
        }),
        find: (id) =>
          sql
            .rows<StoredOrder>(
              (q) =>
                q`select status, state->'context' as context from entity where kind = ${kind} and id = ${id}`,
            )
            .pipe(Effect.map((rows) => rows[0])),
        list: (filter, page) => {
          const { holdsMoney, number, status, userId } = filter
          const types = orderList.sorts[page.sort]
          const statuses = status === undefined ? OrderStatus.literals : [status]
          const sortedBy = (q: Client) => (page.sort === "updated_at" ? q`updated_at` : q`created_at`)
          const isOf = (q: Client) => (userId === undefined ? q`true` : q`owner_id = ${userId}`)
          const isHeld = (q: Client) =>
            q`${holdsMoney ? q`` : q`not`} exists (select 1 from money_held() m where m.order_id = entity.id)`
          if (number !== undefined || holdsMoney) {
            /** `offset 0`: the planner uses the index of the number, whatever its statistics are. */
            const candidates = (q: Client) =>
              number === undefined
                ? q`select e.id, e.status, e.owner_id, e.created_at, e.updated_at from (select order_id from money_held()) h
                      join entity e on e.${isKind(q, "order")} and e.id = h.order_id`
                : q`select * from entity
                     where ${isKind(q, "order")} and right(id::text, ${q.unsafe(String(orderNumberDigits))}) = ${number}
                       and ${holdsMoney === undefined ? q`true` : isHeld(q)} offset 0`
            const tooMany =
              "More than 10,000 orders match holds_money or order_number. Send user_id or status too."
            return pages.readFound<StoredOrder>(page, types, tooMany, (q) => ({
              matching: q`select * from (${candidates(q)}) order_found
                           where status = any(${[...statuses]}) and ${isOf(q)}`,
              keys: [sortedBy(q), q`id`],
              item: entityItem(q, "order", q`p.k1`),
            }))
          }
          return pages.readCounted<StoredOrder>(page, types, ["orders", userId, status, holdsMoney], (q) => ({
            ranges: statusRanges(
              q,
              "order",
              statuses,
              // Few orders hold money, so nearly all entries of the index meet the condition.
              holdsMoney === undefined ? isOf(q) : q`${isOf(q)} and ${isHeld(q)}`,
            ),
            keys: [sortedBy(q), q`id`],
            item: entityItem(q, "order", q`p.k1`),
          }))
        },
      })
    }),
  )
}

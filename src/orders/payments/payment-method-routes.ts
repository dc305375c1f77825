import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { NotFound } from "../../../schema/errors.ts"
import { PaymentMethod } from "../../../schema/orders/order.ts"
import { arrayQuery, pageRequest } from "../../../schema/paging.ts"
import { text } from "../../../schema/wire-format.ts"
import { linked } from "../../http/response/page-links.ts"
import { route } from "../../http/route.ts"
import { detachPaymentMethod } from "./detach-payment-method.ts"
import { methodList, PaymentMethods, toMethod } from "./payment-method-store.ts"

const shared = { group: "cart", auth: "apiKey" } as const
const params = { id: text(255) }

const listPaymentMethods = route({
  ...shared,
  id: "listPaymentMethods",
  summary: "List your payment methods",
  description: "100 per page. Test cards are hidden if test payments are disabled.",
  method: "get",
  path: "/payment_methods",
  scope: "paymentMethod:read",
  query: arrayQuery(methodList),
  success: Schema.Array(PaymentMethod),
  errors: [],
  handler: ({ path, principal, query, search }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(methodList, query)
      const found = yield* PaymentMethods.use((methods) => methods.list(principal.userId, page))
      return linked(methodList, page, found, found.rows, { path, search })
    }),
})

const deletePaymentMethod = route({
  ...shared,
  id: "deletePaymentMethods",
  summary: "Delete a payment method here and at the provider",
  description: "The provider cannot charge it any more. Payments that were made with it stay valid.",
  method: "del",
  path: "/payment_methods/:id",
  work: "provider",
  scope: "paymentMethod:destroy",
  access: { own: true },
  params,
  success: PaymentMethod,
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    Effect.gen(function* () {
      const { rows } = yield* PaymentMethods.use((methods) =>
        atMostOnce(methods.delete(principal.userId, id)),
      )
      const row = rows[0]!
      yield* detachPaymentMethod(id, row.provider)
      return toMethod(row)
    }),
})

const setDefaultPaymentMethod = route({
  ...shared,
  id: "setDefaultPaymentMethod",
  summary: "Set the default payment method",
  description: "The earlier default method stays available.",
  method: "put",
  path: "/payment_methods/:id/default",
  scope: "paymentMethod:setDefault",
  access: { own: true },
  params,
  success: PaymentMethod,
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    Effect.map(
      PaymentMethods.use((methods) => atMostOnce(methods.setDefault(principal.userId, id))),
      ({ rows }) => toMethod(rows.find((row) => row.id === id)!),
    ),
})

export const paymentMethods = [listPaymentMethods, deletePaymentMethod, setDefaultPaymentMethod] as const

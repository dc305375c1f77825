import { Effect, Schema } from "effect"
import { NotFound } from "../../../schema/errors.ts"
import { PaymentMethod } from "../../../schema/orders/order.ts"
import { pieceOf, pieceQuery } from "../../../schema/paging.ts"
import { text } from "../../../schema/wire-format.ts"
import { route } from "../../http/route.ts"
import { detachPaymentMethod } from "./detach-payment-method.ts"
import { maxMethodsListed, PaymentMethods } from "./payment-method-store.ts"

const shared = { group: "cart", auth: "apiKey" } as const
const params = { id: text(255) }

const listPaymentMethods = route({
  ...shared,
  id: "listPaymentMethods",
  summary:
    "List the caller's payment methods, 100 per page. Test cards are hidden if test payments are disabled",
  method: "get",
  path: "/payment_methods",
  scope: "paymentMethod:read",
  query: pieceQuery(maxMethodsListed),
  success: Schema.Array(PaymentMethod),
  errors: [],
  handler: ({ principal, query }) =>
    PaymentMethods.use((methods) => methods.list(principal.userId, pieceOf(query, maxMethodsListed))),
})

const deletePaymentMethod = route({
  ...shared,
  id: "deletePaymentMethods",
  summary: "Delete a payment method here and at the provider",
  method: "del",
  path: "/payment_methods/:id",
  scope: "paymentMethod:destroy",
  access: { own: true },
  params,
  success: PaymentMethod,
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    Effect.gen(function* () {
      const { provider, shown } = yield* PaymentMethods.use((methods) => methods.delete(principal.userId, id))
      yield* detachPaymentMethod(id, provider)
      return shown
    }),
})

const setDefaultPaymentMethod = route({
  ...shared,
  id: "setDefaultPaymentMethod",
  summary: "Set the default payment method",
  method: "put",
  path: "/payment_methods/:id/default",
  scope: "paymentMethod:setDefault",
  access: { own: true },
  params,
  success: PaymentMethod,
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    PaymentMethods.use((methods) => methods.setDefault(principal.userId, id)),
})

export const paymentMethods = [listPaymentMethods, deletePaymentMethod, setDefaultPaymentMethod] as const

import { Context, Effect, Layer } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import type { OrderEvent, OrderItem } from "../../../machines/orders/context.ts"
import { dueCents } from "../../../machines/orders/money.ts"
import type { EventRefused, NotFound, Unavailable } from "../../../schema/errors.ts"
import type { Code } from "../../../schema/orders/code.ts"
import { type CartRefusal, Carts, type CartTurn } from "../cart/cart.ts"
import { codeDiscounts } from "../checkout/discounts.ts"
import type { StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import { budgetLimit, checkOrigin, checkUsable, refuseCode, usedUp } from "./code-rules.ts"
import { Codes } from "./code-store.ts"

const maxAttempts = 3

/** Applies discount codes to carts that are pending payment. */
export class Promotions extends Context.Service<
  Promotions,
  {
    apply(
      userId: string,
      text: string,
    ): Effect.Effect<CartTurn, CartRefusal | EventRefused | NotFound | Unavailable>
  }
>()("directory/Promotions") {
  static readonly layer = Layer.effect(
    Promotions,
    Effect.gen(function* () {
      const carts = yield* Carts
      const codes = yield* Codes
      const payments = yield* Payments

      const getCode = Effect.fnUntraced(function* (text: string, now: number) {
        const code = yield* codes.findByRedemption(text.trim())
        if (code === undefined || code.activator !== "RedemptionCode")
          return yield* refuseCode("unknown", "Unknown code. Check the spelling.")
        yield* checkUsable(code, "Discount", now)
        return code
      })

      const usesLeft = Effect.fnUntraced(function* (code: Code, userId: string) {
        const total = code.max_uses === null ? Number.POSITIVE_INFINITY : code.max_uses - code.uses
        if (code.max_emojis_per_user === null) return total
        const mine = code.max_emojis_per_user - (yield* codes.usesOf(code.id, userId))
        if (mine <= 0) return yield* usedUp("code_uses_per_user")
        return Math.min(total, mine)
      })

      const decide =
        (text: string) =>
        ({ context, status }: StoredOrder, at: string) =>
          Effect.gen(function* () {
            const discountBy = (
              codeId: string,
              discounts: ReadonlyArray<OrderItem>,
            ): { readonly event: OrderEvent } => ({
              event: { type: "promo_code", discounts, code: { codeId, count: discounts.length }, at },
            })
            // Only a pending order accepts this event. For other orders the code is not looked up, because the machine
            // refuses the event.
            if (status !== "PendingPayment") return discountBy("", [])
            const code = yield* getCode(text, Date.parse(at))
            yield* checkOrigin(code, { organizationId: context.checkout?.organizationId })
            if (context.codes.some(({ codeId }) => codeId === code.id))
              return yield* refuseCode("already_applied", "This code is already applied to the cart.")
            const discounts = codeDiscounts(context.items, code, yield* usesLeft(code, context.userId), at)
            if (discounts.length === 0)
              return yield* refuseCode("eligibility", "This code does not apply to any item in the cart.")
            const left = dueCents({ ...context, items: [...context.items, ...discounts] })
            const tooLittle = payments.tooLittle(context.checkout?.method ?? "Free", left)
            if (tooLittle !== undefined) return yield* refuseCode("eligibility", tooLittle)
            return discountBy(code.id, discounts)
          })

      const apply = Effect.fnUntraced(function* (userId: string, text: string) {
        for (let tries = 1; ; tries++) {
          const turn = yield* carts.complete(userId, decide(text)).pipe(
            Effect.catchTags({
              // A concurrent order used the code, and a limit was reached. The next attempt reads the remaining
              // number of uses. The budget of an organization covers all discounts of an order or none.
              LimitReached: ({ limit }) =>
                tries < maxAttempts && limit !== budgetLimit
                  ? Effect.succeed(undefined)
                  : Effect.fail(usedUp(limit)),
              IdsTaken: Effect.die,
            }),
          )
          if (turn !== undefined) return turn
        }
      })

      return Promotions.of({
        apply: Effect.fnUntraced(function* (userId, text) {
          const turn = yield* atMostOnce(apply(userId, text))
          // The amount due has changed, so the order needs a new intent.
          yield* payments.abandon(turn.before.intent)
          return { ...turn, order: yield* payments.ensureIntent(turn.order) }
        }),
      })
    }),
  )
}

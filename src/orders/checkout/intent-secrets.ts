import { Context, Effect, Layer } from "effect"
import type { Intent } from "../../../machines/orders/context.ts"
import { Seal } from "../../crypto/envelope-encryption.ts"
import type { MadeIntent } from "../payments/port.ts"
import { Sandbox } from "../payments/sandbox.ts"

const secretAad = (orderId: string) => `order/${orderId}/client-secret`

/** The secrets with which a buyer's browser speaks to the payment provider. Orders keep none of them in the clear. */
export class IntentSecrets extends Context.Service<
  IntentSecrets,
  {
    /** An intent as orders keep it: its secret sealed, or left out when its provider can say it again. */
    keep(orderId: string, made: MadeIntent & Pick<Intent, "attempt" | "provider">): Effect.Effect<Intent>
    tell(orderId: string, intent: Intent): Effect.Effect<string>
  }
>()("directory/IntentSecrets") {
  static readonly layer = Layer.effect(
    IntentSecrets,
    Effect.gen(function* () {
      const seal = yield* Seal
      const sandbox = yield* Sandbox
      return IntentSecrets.of({
        keep: (orderId, made) => {
          if (made.clientSecret === undefined) return Effect.succeed(made)
          const { clientSecret, ...intent } = made
          return Effect.map(seal.seal(Buffer.from(clientSecret), secretAad(orderId)), (sealedSecret) => ({
            ...intent,
            sealedSecret,
          }))
        },
        tell: (orderId, intent) =>
          intent.sealedSecret === undefined
            ? Effect.succeed(sandbox.secretOf(intent))
            : seal.open(intent.sealedSecret, secretAad(orderId)).pipe(
                Effect.map(String),
                // Its key may be given up by now: whoever looks at an order of before has no use for it.
                Effect.orElseSucceed(() => ""),
              ),
      })
    }),
  )
}

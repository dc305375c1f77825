import { Context, Effect, Layer } from "effect"
import type { Intent } from "../../../machines/orders/context.ts"
import { Seal } from "../../crypto/envelope-encryption.ts"
import type { MadeIntent } from "../payments/port.ts"
import { Sandbox } from "../payments/sandbox.ts"

const secretAad = (orderId: string) => `order/${orderId}/client-secret`

/** Encrypts and decrypts the client secrets of payment intents. Orders store the secrets only encrypted. */
export class IntentSecrets extends Context.Service<
  IntentSecrets,
  {
    /**
     * Converts an intent to its stored form: its client secret is encrypted. An intent of the sandbox contains no
     * secret, because the sandbox can compute it again.
     */
    protect(orderId: string, made: MadeIntent & Pick<Intent, "attempt" | "provider">): Effect.Effect<Intent>
    reveal(orderId: string, intent: Intent): Effect.Effect<string>
  }
>()("directory/IntentSecrets") {
  static readonly layer = Layer.effect(
    IntentSecrets,
    Effect.gen(function* () {
      const seal = yield* Seal
      const sandbox = yield* Sandbox
      return IntentSecrets.of({
        protect: (orderId, made) => {
          if (made.clientSecret === undefined) return Effect.succeed(made)
          const { clientSecret, ...intent } = made
          return Effect.map(seal.seal(Buffer.from(clientSecret), secretAad(orderId)), (sealedSecret) => ({
            ...intent,
            sealedSecret,
          }))
        },
        reveal: (orderId, intent) =>
          intent.sealedSecret === undefined
            ? Effect.succeed(sandbox.secretOf(intent))
            : seal.open(intent.sealedSecret, secretAad(orderId)).pipe(
                Effect.map(String),
                // Decryption fails if the encryption key was retired. An order from that time is closed and does not
                // need the secret.
                Effect.orElseSucceed(() => ""),
              ),
      })
    }),
  )
}

import { Clock, Context, Effect, Layer } from "effect"
import { generateSecret, generateURI, verifySync } from "otplib"
import { encodeQR } from "qr"

const stepSeconds = 30
const codePattern = /^\d{6}$/
// Longer labels are cut. The URI must fit into a QR code, even if percent-encoding turns every code point of the label
// into twelve characters.
const maxLabelCodePoints = 100

/**
 * Creates secrets for authenticator apps and verifies their codes: RFC 6238 with SHA-1, six digits and 30 seconds,
 * which every app supports.
 */
export class Totp extends Context.Service<
  Totp,
  {
    /** Creates a secret of 160 random bits, in base32. */
    readonly makeSecret: Effect.Effect<string>
    readonly enrolment: (
      secret: string,
      label: string,
    ) => { readonly uri: string; readonly qrCodeSvg: string }
    /**
     * Returns the time step of the code if it is the current or the previous one, otherwise undefined. Steps up to
     * `afterStep` were already used and are rejected. Two concurrent requests may get the same step here. Only the
     * request that increases the stored step in SQL has used the code.
     */
    readonly verify: (
      secret: string,
      code: string,
      afterStep: number | undefined,
    ) => Effect.Effect<number | undefined>
  }
>()("services/Totp") {
  static readonly layer = (options: { readonly issuer: string }) =>
    Layer.succeed(
      Totp,
      Totp.of({
        makeSecret: Effect.sync(() => generateSecret({ length: 20 })),
        enrolment: (secret, label) => {
          const shortLabel = Array.from(label).slice(0, maxLabelCodePoints).join("")
          const uri = generateURI({ issuer: options.issuer, label: shortLabel, secret })
          return { uri, qrCodeSvg: encodeQR(uri, "svg", { ecc: "medium", border: 2 }) }
        },
        verify: Effect.fnUntraced(function* (secret: string, code: string, afterStep: number | undefined) {
          const epoch = Math.floor((yield* Clock.currentTimeMillis) / 1000)
          // otplib throws for a malformed code, and for an `afterStep` in the future, which occurs after the clock
          // was set back. Both cases are handled here, so that any other exception is a defect, for example a damaged
          // secret.
          if (!codePattern.test(code)) return undefined
          if (afterStep !== undefined && afterStep > Math.floor(epoch / stepSeconds)) return undefined
          const result = verifySync({
            secret,
            token: code,
            epoch,
            period: stepSeconds,
            epochTolerance: [stepSeconds, 0],
            ...(afterStep === undefined ? {} : { afterTimeStep: afterStep }),
          })
          return result.valid && "timeStep" in result ? result.timeStep : undefined
        }),
      }),
    )
}

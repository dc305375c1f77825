import { Clock, Context, Effect, Layer } from "effect"
import { generateSecret, generateURI, verifySync } from "otplib"
import { encodeQR } from "qr"

const stepSeconds = 30
const codePattern = /^\d{6}$/
// Keeps the address within what a QR code holds even if every character takes twelve in percent encoding.
const maxLabelCodePoints = 100

/** Authenticator apps: RFC 6238 with SHA-1, six digits and 30 seconds, the one form every app supports. */
export class Totp extends Context.Service<
  Totp,
  {
    /** 160 bits in base32. */
    readonly makeSecret: Effect.Effect<string>
    readonly enrolment: (
      secret: string,
      label: string,
    ) => { readonly uri: string; readonly qrCodeSvg: string }
    /**
     * The step whose code this is, current or previous, or undefined. Steps up to `afterStep` are spent. Two
     * requests may both get the same step here: whoever moves the stored step forward in SQL has used the code.
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
          // otplib throws on a code of another form and on a spent step in the future (a clock that went back).
          // Both are answered here, so that what it still throws is a defect, such as a damaged secret.
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

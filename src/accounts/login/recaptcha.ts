import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { fieldFault, Unavailable, type Unprocessable } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import { ApiKeyCallerCache } from "../api-keys/api-key-caller-store.ts"
import { bearerToken } from "../authenticate.ts"

const timeoutMs = 5000
/** Version 3 of reCAPTCHA returns a score from 0 (a robot) to 1 (a human). Version 2 returns none. */
const minScore = 0.5
const field = "g_recaptcha_response"

const Verdict = Schema.Struct({
  success: Schema.Boolean,
  score: Schema.optionalKey(Schema.Finite),
  "error-codes": Schema.optionalKey(Schema.Array(Schema.String)),
})
const readVerdict = Schema.decodeUnknownOption(Schema.fromJsonString(Verdict))

const unavailable = () =>
  new Unavailable({
    error: "The reCAPTCHA response could not be verified. Try again later.",
    retryAfterSeconds: 5,
  })

/** Sends a response to the verifier. Returns its verdict, or undefined if it sent none. */
const post = async (url: string, secret: string, response: string) => {
  const answer = await fetch(`${url}/api/siteverify`, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ secret, response }).toString(),
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (answer.ok) return Option.getOrUndefined(readVerdict(await answer.text()))
  await answer.body?.cancel()
  throw new Error(`status ${answer.status}`)
}

type Verdict = typeof Verdict.Type
const refusesSecret = (verdict: Verdict) =>
  (verdict["error-codes"] ?? []).some((code) => code.endsWith("-secret"))

/** Whether the verifier accepts the secret. Throws if it sends no verdict. */
export const acceptsSecret = async (url: string, secret: Redacted.Redacted): Promise<boolean> => {
  const verdict = await post(url, Redacted.value(secret), "check of the secret")
  if (verdict === undefined) throw new Error("the verifier sent no verdict")
  return !refusesSecret(verdict)
}

/**
 * Checks that a request comes from a human, if RECAPTCHA_SECRET is set. If the verifier cannot be reached, the request
 * fails: otherwise an attacker could get past the check by overloading the verifier.
 */
export class Recaptcha extends Context.Service<
  Recaptcha,
  {
    /** Verifies the response of a reCAPTCHA widget. Succeeds without a check if no secret is configured. */
    check(response: string | null | undefined): Effect.Effect<void, Unprocessable | Unavailable>
    /**
     * Checks a request to the API. A valid API key replaces the response: servers of partners have no widget, and the
     * requests of a key can be traced to its user.
     */
    checkRequest(
      response: string | null | undefined,
      headers: Readonly<Record<string, string>>,
    ): Effect.Effect<void, Unprocessable | Unavailable>
  }
>()("directory/Recaptcha") {
  static readonly layer = Layer.effect(
    Recaptcha,
    Effect.gen(function* () {
      const { recaptchaSecret, recaptchaUrl } = yield* AppConfig
      const apiKeys = yield* ApiKeyCallerCache
      if (recaptchaSecret === undefined)
        return Recaptcha.of({ check: () => Effect.void, checkRequest: () => Effect.void })

      const verify = (response: string) =>
        Effect.tryPromise({
          try: () => post(recaptchaUrl, Redacted.value(recaptchaSecret), response),
          catch: (error) => error,
        }).pipe(
          Effect.catch((error) =>
            Effect.andThen(
              Effect.logWarning("reCAPTCHA verifier failed", String(error)),
              Effect.fail(unavailable()),
            ),
          ),
        )

      const check = Effect.fnUntraced(function* (response: string | null | undefined) {
        if (!response) {
          return yield* fieldFault(field, "required", "Send the response of the reCAPTCHA widget.")
        }
        const verdict = yield* verify(response)
        if (verdict === undefined || refusesSecret(verdict)) {
          yield* Effect.logError("reCAPTCHA verifier refused RECAPTCHA_SECRET or sent no verdict", verdict)
          return yield* unavailable()
        }
        if (!verdict.success || (verdict.score ?? 1) < minScore) {
          return yield* fieldFault(field, "invalid", "The reCAPTCHA check failed. Get a new response.")
        }
      })

      const hasApiKey = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
        for (const text of [bearerToken(headers), headers["x-api-key"]?.trim()]) {
          if (!text?.startsWith("svc_")) continue
          const key = apiKeys.remembered(text) ?? (yield* apiKeys.find(text))
          if (key?.caller.active) return true
        }
        return false
      })

      return Recaptcha.of({
        check,
        checkRequest: Effect.fnUntraced(function* (response, headers) {
          if (!(yield* hasApiKey(headers))) yield* check(response)
        }),
      })
    }),
  )
}

/** The request headers that `checkRequest` reads. */
export const recaptchaHeaders = ["authorization", "x-api-key"] as const

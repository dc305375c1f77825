import { Effect, Redacted } from "effect"
import { DeliveryFailed, type DeliveryProvider } from "./delivery-provider.ts"

const timeoutMs = 10_000

export interface TwilioAccount {
  readonly url: string
  readonly account: string
  readonly token: Redacted.Redacted
  readonly from: string
}

/** Sends SMS through Twilio's message resource, with one form-encoded POST for each SMS. */
export const twilioProvider = ({ account, from, token, url }: TwilioAccount): DeliveryProvider => {
  const endpoint = `${url}/2010-04-01/Accounts/${encodeURIComponent(account)}/Messages.json`
  const authorization = `Basic ${Buffer.from(`${account}:${Redacted.value(token)}`).toString("base64")}`
  const post = async (to: string, text: string) => {
    const response = await fetch(endpoint, {
      method: "POST",
      redirect: "error",
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ To: to, From: from, Body: text }).toString(),
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return response.status
  }
  return {
    send: ({ text, to }) =>
      Effect.tryPromise({
        try: () => post(to, text),
        catch: (error) => new DeliveryFailed({ reason: String(error), isPermanent: false }),
      }).pipe(
        Effect.flatMap((status) =>
          status >= 200 && status < 300
            ? Effect.void
            : Effect.fail(
                new DeliveryFailed({
                  reason: `Twilio responded with status ${status}`,
                  // Status 400 or 404 means that the number was rejected. It stays invalid, so this failure is
                  // permanent. Rate limits, a wrong token and server errors are temporary.
                  isPermanent: status === 400 || status === 404,
                }),
              ),
        ),
      ),
  }
}

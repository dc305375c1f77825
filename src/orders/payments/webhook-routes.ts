import { Effect, Schema } from "effect"
import { InvalidRequest, NotFound } from "../../../schema/errors.ts"
import { route } from "../../http/route.ts"
import { PaymentEvents } from "./apply-payment-event.ts"
import { Payments } from "./payments.ts"

const Received = Schema.Struct({ received: Schema.Boolean }).annotate({ identifier: "Received" })

/**
 * Creates the route that receives the webhooks of a provider. A provider repeats a webhook until it gets a success
 * status.
 */
const webhook = (provider: string, signatureHeader: string) =>
  route({
    id: `${provider}Webhook`,
    group: "webhooks",
    summary: `Receive a webhook of ${provider}`,
    description: `The provider reports payments here. The signature is checked, and repeated events, in any order, are applied once. 404 if ${provider} is not configured.`,
    method: "post",
    path: `/webhooks/${provider}`,
    work: "provider",
    auth: "none",
    rawBody: true,
    bodyLimitBytes: 256 * 1024,
    headers: [signatureHeader],
    success: Received,
    errors: [InvalidRequest, NotFound],
    handler: Effect.fnUntraced(function* ({ headers, rawBody }) {
      const port = (yield* Payments).find(provider)
      if (port === undefined)
        return yield* new NotFound({ error: "This payment provider is not enabled on this server." })
      const event = yield* port.readWebhook(rawBody, headers[signatureHeader] ?? "")
      if (event !== undefined) yield* PaymentEvents.use((events) => events.apply(event))
      return { received: true }
    }),
  })

export const webhooks = [
  webhook("sandbox", "sandbox-signature"),
  webhook("stripe", "stripe-signature"),
] as const

import { Data, type Effect } from "effect"

export interface OutgoingMessage {
  /** The same in every attempt, so that the receiving server can recognise a duplicate. */
  readonly id: number
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same content as `text`. */
  readonly html: string
}

/** The provider did not accept the message. A message with a permanent failure is not sent again. */
export class DeliveryFailed extends Data.TaggedError("DeliveryFailed")<{
  readonly reason: string
  readonly isPermanent: boolean
}> {}

/** Sends messages to people: an SMTP server or an SMS gateway. */
export interface DeliveryProvider {
  readonly send: (message: OutgoingMessage) => Effect.Effect<void, DeliveryFailed>
}

import { Data, type Effect } from "effect"

export interface OutgoingMessage {
  /**
   * Identifies the message. It is the same in every attempt, so that the receiving server can recognise a duplicate.
   */
  readonly id: number
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same content as `text`, in HTML. */
  readonly html: string
}

/** The provider did not accept the message. If the failure is permanent, the message is not sent again. */
export class DeliveryFailed extends Data.TaggedError("DeliveryFailed")<{
  readonly reason: string
  readonly isPermanent: boolean
}> {}

/** An SMTP server or an SMS gateway, which sends messages to people. */
export interface DeliveryProvider {
  readonly send: (message: OutgoingMessage) => Effect.Effect<void, DeliveryFailed>
}

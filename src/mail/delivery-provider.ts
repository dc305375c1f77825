import { Data, type Effect } from "effect"

export interface OutgoingMessage {
  /** The same on every try, so that a receiver may recognise a repeat. */
  readonly id: number
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for those who read mail as pages. */
  readonly html: string
}

/** The provider did not take it. A lasting refusal is not tried again. */
export class DeliveryFailed extends Data.TaggedError("NotCarried")<{
  readonly reason: string
  readonly isLasting: boolean
}> {}

/** Who takes letters to the world: SMTP, an SMS gateway. */
export interface DeliveryProvider {
  readonly send: (message: OutgoingMessage) => Effect.Effect<void, DeliveryFailed>
}

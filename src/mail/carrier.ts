import { Data, type Effect } from "effect"
import type { Config } from "../config/config.ts"

export interface Parcel {
  /** The same on every try, so that a receiver may recognise a repeat. */
  readonly id: number
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for those who read mail as pages. */
  readonly html: string
}

/** The provider did not take it. A lasting refusal is not tried again. */
export class NotCarried extends Data.TaggedError("NotCarried")<{
  readonly reason: string
  readonly isLasting: boolean
}> {}

/** Who takes letters to the world: SMTP, an SMS gateway. */
export interface Carrier {
  readonly carry: (parcel: Parcel) => Effect.Effect<void, NotCarried>
}

/** An email address may begin like one. */
export const isPhone = (recipient: string) => recipient.startsWith("+") && !recipient.includes("@")

/** What this process takes to the world; another one may take more. */
export const carriedHere = ({ smtpUrl, twilioAccount }: Config) => ({
  mail: smtpUrl !== undefined,
  phones: twilioAccount !== undefined,
})

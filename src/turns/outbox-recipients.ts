import type { Config } from "../config/config.ts"

/** A phone number starts with a plus sign. An email address may start with one too, but contains an @. */
export const isPhone = (recipient: string) => recipient.startsWith("+") && !recipient.includes("@")

/** What this process can deliver. Another process of the same service may be configured to deliver more. */
export const deliveredHere = ({ smtpUrl, twilioAccount }: Config) => ({
  mail: smtpUrl !== undefined,
  phones: twilioAccount !== undefined,
})

import type { Config } from "../config/read-config.ts"

/**
 * Whether a recipient is a phone number: it starts with "+". An email address can also start with "+", but it
 * contains "@".
 */
export const isPhone = (recipient: string) => recipient.startsWith("+") && !recipient.includes("@")

/**
 * The kinds of messages that this process can deliver. Another process of the service can be configured differently.
 */
export const deliveredHere = ({ smtpUrl, twilioAccount }: Config) => ({
  mail: smtpUrl !== undefined,
  phones: twilioAccount !== undefined,
})

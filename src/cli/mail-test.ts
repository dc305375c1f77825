import { isEmail } from "../../schema/accounts/credential-rules.ts"
import { InvalidRequest } from "../../schema/errors.ts"
import { productVersion } from "../config/product-version.ts"
import { sendTestMail, smtpAdvice } from "../mail/smtp-check.ts"
import type { OfflineCommand } from "./command-line/command.ts"

const test: OfflineCommand = {
  name: "mail test",
  words: ["address"],
  summary:
    "Send a mail to an address through SMTP_URL now, without the outbox, and show what the mail server answered",
  work: async ({ words: [address = ""] }, { config }) => {
    const { baseUrl, mailFrom, smtpUrl } = config
    if (!isEmail(address)) throw new InvalidRequest({ error: `Not an email address: ${address}` })
    if (smtpUrl === undefined)
      throw new Error(
        "SMTP_URL: not set, so mail is stored in the outbox and not sent. Set it as for the service.",
      )
    const text = `The command "mail test" of ${baseUrl} (version ${productVersion}) has sent this mail.`
    const mail = { from: mailFrom, to: address, subject: "Test of the mail settings", text }
    try {
      const { messageId, response } = await sendTestMail(smtpUrl, mail)
      return { to: address, from: mailFrom, answer: response, message_id: messageId }
    } catch (error) {
      throw new Error(`SMTP_URL: ${(error as Error).message}. ${smtpAdvice(error)}`)
    }
  },
}

export const mailTestCommands: ReadonlyArray<OfflineCommand> = [test]

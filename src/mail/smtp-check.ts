import { Redacted } from "effect"
import type { Transporter } from "nodemailer"

const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }

const withTransport = async <A>(
  url: Redacted.Redacted,
  use: (transport: Transporter) => Promise<A>,
): Promise<A> => {
  const { createTransport } = await import("nodemailer")
  const transport = createTransport({ url: Redacted.value(url), ...limits } as never) as Transporter
  try {
    return await use(transport)
  } finally {
    transport.close()
  }
}

/** Connects to the mail server, greets it, starts TLS and logs in, as for a mail. Sends nothing. */
export const checkSmtp = (url: Redacted.Redacted): Promise<void> =>
  withTransport(url, async (transport) => {
    await transport.verify()
  })

export interface TestMail {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends a mail now, without the outbox. Returns what the server answered. */
export const sendTestMail = (
  url: Redacted.Redacted,
  mail: TestMail,
): Promise<{ readonly messageId: string; readonly response: string }> =>
  withTransport(url, async (transport) => {
    const { messageId, response } = await transport.sendMail({
      ...mail,
      to: { name: "", address: mail.to },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    return { messageId, response: response ?? "" }
  })

/**
 * What an operator can do about an error of the mail server. The codes are those of the client (nodemailer 10.4.0).
 */
export const smtpAdvice = (error: unknown): string => {
  const { code = "", responseCode = 0 } = error as { readonly code?: string; readonly responseCode?: number }
  if (code === "EAUTH" || responseCode === 535)
    return "Correct the user or the password in SMTP_URL; write special characters as %XX."
  if (code === "EENVELOPE" || code === "EMESSAGE")
    return "Set MAIL_FROM to a sender that the server accepts, and check the recipient."
  if (code === "ETLS" || /certificate|TLS|SSL/i.test((error as Error).message))
    return "Check TLS: smtps:// for port 465, smtp:// for 587; NODE_EXTRA_CA_CERTS for an own authority."
  return "Check the host and the port of SMTP_URL, and that the firewall lets this machine out."
}

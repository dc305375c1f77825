import { Redacted } from "effect"
import { acceptsSecret } from "../../accounts/login/recaptcha.ts"
import { readRedisVersion } from "../../cluster/redis.ts"
import type { Config } from "../../config/read-config.ts"
import { checkSmtp, smtpAdvice } from "../../mail/smtp-check.ts"
import { type Finding, failed, messageOf, ok, warning } from "./finding.ts"

const answerMs = 8000
const stripeUrl = "https://api.stripe.com"

const redis = async ({ databaseUrl, redisUrl }: Config): Promise<Finding> => {
  const check = "redis"
  if (redisUrl === undefined)
    return ok(check, "REDIS_URL is not set; processes wake each other through Postgres")
  if (databaseUrl === undefined) return ok(check, "REDIS_URL is not used without DATABASE_URL")
  try {
    return ok(check, `Redis ${await readRedisVersion(Redacted.value(redisUrl))} answers`)
  } catch (error) {
    return warning(
      check,
      `REDIS_URL: ${messageOf(error)}`,
      "Start Redis or correct REDIS_URL; until then live updates of other processes are slower.",
    )
  }
}

const mail = async ({ mailFrom, production, smtpUrl }: Config): Promise<Finding> => {
  const check = "mail"
  if (smtpUrl === undefined)
    return production
      ? failed(
          check,
          "SMTP_URL is not set: mail is stored and not sent",
          "Set SMTP_URL; sign-ins by link and transfers need mail.",
        )
      : ok(check, "SMTP_URL is not set; mail is at /dev/outbox")
  try {
    await checkSmtp(smtpUrl)
  } catch (error) {
    return failed(check, `SMTP_URL: ${messageOf(error)}`, smtpAdvice(error))
  }
  return production && mailFrom.includes("@localhost")
    ? warning(
        check,
        "the mail server accepts the login, but MAIL_FROM is at localhost",
        "Set MAIL_FROM to an address of your domain.",
      )
    : ok(check, `the mail server accepts the login; "mail test ADDRESS" sends a mail`)
}

const noAnswer = (check: string, url: string, error: unknown): Finding =>
  warning(
    check,
    `no answer from ${new URL(url).host}: ${messageOf((error as Error).cause ?? error)}`,
    "Check that the firewall lets this machine out, and the status page of the provider.",
  )

/** Asks a provider with a request that changes nothing. The status tells whether the credentials are valid. */
const ask = async (check: string, setting: string, url: string, authorization: string): Promise<Finding> => {
  try {
    const { body, status } = await fetch(url, {
      headers: { authorization },
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    })
    await body?.cancel()
    if (status === 401 || status === 403)
      return failed(
        check,
        `${setting}: the provider refuses the credentials (${status})`,
        `Correct ${setting}.`,
      )
    return status < 300
      ? ok(check, `${new URL(url).host} accepts the credentials`)
      : warning(check, `${new URL(url).host} answers ${status}`, "Look at the status page of the provider.")
  } catch (error) {
    return noAnswer(check, url, error)
  }
}

const basic = (user: string, password: Redacted.Redacted) =>
  `Basic ${Buffer.from(`${user}:${Redacted.value(password)}`).toString("base64")}`

const payments = async (config: Config): Promise<Finding> => {
  const check = "payments"
  if (config.stripeKey !== undefined)
    return ask(
      check,
      "STRIPE_SECRET_KEY",
      `${config.stripeUrl ?? stripeUrl}/v1/balance`,
      `Bearer ${Redacted.value(config.stripeKey)}`,
    )
  if (!config.production) return ok(check, "the sandbox is on; no real money is charged")
  return config.payments === "sandbox"
    ? warning(
        check,
        "PAYMENTS=sandbox: no real money is charged",
        "Set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET to charge.",
      )
    : warning(
        check,
        "no payment provider is configured: only free checkouts and booked cash work",
        "Set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.",
      )
}

const sms = async ({ twilioAccount, twilioToken, twilioUrl }: Config): Promise<Finding> =>
  twilioAccount === undefined || twilioToken === undefined
    ? ok("sms", "TWILIO_ACCOUNT_SID is not set; no codes are sent by SMS")
    : ask(
        "sms",
        "TWILIO_AUTH_TOKEN",
        `${twilioUrl}/2010-04-01/Accounts/${encodeURIComponent(twilioAccount)}.json`,
        basic(twilioAccount, twilioToken),
      )

const recaptcha = async ({ recaptchaSecret, recaptchaUrl }: Config): Promise<Finding> => {
  const check = "recaptcha"
  if (recaptchaSecret === undefined) return ok(check, "RECAPTCHA_SECRET is not set; robots are not detected")
  try {
    return (await acceptsSecret(recaptchaUrl, recaptchaSecret))
      ? ok(check, `${new URL(recaptchaUrl).host} accepts the secret`)
      : failed(
          check,
          "RECAPTCHA_SECRET: the verifier refuses the secret, so nobody can register or sign in",
          "Correct RECAPTCHA_SECRET.",
        )
  } catch (error) {
    return noAnswer(check, recaptchaUrl, error)
  }
}

export const checkProviders = async (config: Config): Promise<ReadonlyArray<Finding>> =>
  Promise.all([redis(config), mail(config), payments(config), sms(config), recaptcha(config)])

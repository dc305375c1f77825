import { Context, Redacted } from "effect"
import { settings } from "./environment-variables.ts"
import { isPublishedSecret } from "./published-demo-secrets.ts"
import { lookBackSeconds, sessionKeepSeconds } from "./session-retention.ts"
import { type Read, readSettings } from "./variable-readers.ts"

type Settings = Read<typeof settings>
export interface Config extends Omit<Settings, "baseUrl" | "authUrl" | "webUrl" | "demo" | "host"> {
  readonly production: boolean
  readonly demo: boolean
  /** Whether the sandbox payment provider, which charges no real money, can be used. */
  readonly takesTestPayments: boolean
  readonly host: string
  readonly baseUrl: string
  readonly authUrl: string
  readonly webUrl: string
}

const isBelowPath = (address: string | undefined): boolean =>
  address !== undefined && new URL(address).pathname !== "/"

/**
 * Returns the problems of AUTH_URL or WEB_URL (`own`), whose default is BASE_URL (`base`). Their pages need an
 * address without a path, because forms and redirects of the pages use paths from the root of the host.
 */
const pageProblems = (name: string, own: string | undefined, base: string | undefined) => {
  if (isBelowPath(own)) return [`${name}: expected an address without a path`]
  return own === undefined && isBelowPath(base)
    ? [`${name}: set it to an address without a path, because BASE_URL, its default, has one`]
    : []
}

/** Returns one line for each setting that is not allowed together with the values of other settings. */
const combinedProblems = (values: Settings): ReadonlyArray<string> => {
  const production = values.nodeEnv === "production"
  return [
    ...(production && values.rateLimit === "off" ? ["RATE_LIMIT: off is not allowed in production"] : []),
    ...(production && values.demo === "true"
      ? ["DEMO: true is not allowed in production, because the demo passwords are published"]
      : []),
    ...(production &&
    values.adminPassword !== undefined &&
    isPublishedSecret(Redacted.value(values.adminPassword))
      ? ["ADMIN_PASSWORD: a published demo password is not allowed in production"]
      : []),
    ...((values.adminEmail === undefined) !== (values.adminPassword === undefined)
      ? ["ADMIN_EMAIL: set both ADMIN_EMAIL and ADMIN_PASSWORD, or neither"]
      : []),
    ...(values.stripeKey !== undefined && values.stripeWebhookSecret === undefined
      ? ["STRIPE_WEBHOOK_SECRET: required with STRIPE_SECRET_KEY"]
      : []),
    ...(values.stripeKey !== undefined && values.payments === "sandbox"
      ? ["PAYMENTS: sandbox cannot be combined with STRIPE_SECRET_KEY, which charges real money"]
      : []),
    ...(values.twilioAccount !== undefined &&
    (values.twilioToken === undefined || values.twilioFrom === undefined)
      ? ["TWILIO_ACCOUNT_SID: requires TWILIO_AUTH_TOKEN and TWILIO_FROM"]
      : []),
    ...((values.recaptchaSecret === undefined) !== (values.recaptchaSiteKey === undefined)
      ? ["RECAPTCHA_SECRET: set both RECAPTCHA_SECRET and RECAPTCHA_SITE_KEY, or neither"]
      : []),
    ...(values.metricsPort === values.port ? ["METRICS_PORT: expected another port than PORT"] : []),
    ...(production && values.databaseUrl !== undefined && values.secretKeys === undefined
      ? ["SECRET_KEYS: required in production with DATABASE_URL, so that all processes use the same keys"]
      : []),
    ...(sessionKeepSeconds(values) < lookBackSeconds(values)
      ? ["SESSION_KEEP_HOURS: expected a longer time than ACCESS_TOKEN_SECONDS and five minutes"]
      : []),
    ...pageProblems("AUTH_URL", values.authUrl, values.baseUrl),
    ...pageProblems("WEB_URL", values.webUrl, values.baseUrl),
  ]
}

export const readConfig = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
): { readonly config: Config } | { readonly problems: ReadonlyArray<string> } => {
  const read = readSettings(settings, environment)
  if ("problems" in read) return read
  const { values } = read
  const problems = combinedProblems(values)
  if (problems.length > 0) return { problems }
  const production = values.nodeEnv === "production"
  const baseUrl = values.baseUrl ?? `http://localhost:${values.port}`
  const config: Config = {
    ...values,
    production,
    demo: values.demo === undefined ? !production : values.demo === "true",
    takesTestPayments: !production || values.payments === "sandbox",
    host: values.host ?? (production ? "0.0.0.0" : "127.0.0.1"),
    baseUrl,
    authUrl: values.authUrl ?? baseUrl,
    webUrl: values.webUrl ?? baseUrl,
  }
  return { config }
}

export class AppConfig extends Context.Service<AppConfig, Config>()("directory/Config") {}

/**
 * The variables that a program of Postgres gets from the environment of this process: where to find programs and files,
 * and the settings of libpq. The others may be secrets of the service.
 */
export const inheritedEnvironment = (): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(PATH|HOME|TMPDIR|PG.*)$/.test(name)))

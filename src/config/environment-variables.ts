import { withFirstServer } from "./database-servers.ts"
import { readDatabaseUrl, withHost } from "./database-url.ts"
import { retentionSettings } from "./retention-settings.ts"
import {
  baseUrl,
  bearerSecret,
  email,
  hexKey,
  keyList,
  loginUrl,
  oneOf,
  optionalSetting,
  origins,
  password,
  plain,
  secret,
  setting,
  share,
  url,
  whole,
} from "./variable-readers.ts"

const seconds = whole(1, 31_536_000)
const onOff = oneOf("on", "off")
const web = url("http:", "https:")
const postgresUrl = loginUrl("postgres:", "postgresql:")
const databaseUrl = (text: string) => {
  const given = withHost(text)
  postgresUrl(withFirstServer(given))
  readDatabaseUrl(given)
  return given
}
const redisUrl = (text: string) => {
  const given = loginUrl("redis:", "rediss:")(text)
  if (!/^\/?\d*$/.test(new URL(given).pathname))
    throw new Error("expected a path that is a database number, such as /0")
  return given
}
const publicAddress = baseUrl("http:", "https:")

/** Every environment variable that the service reads. docs/settings.md is generated from this object. */
export const settings = {
  nodeEnv: setting(
    "NODE_ENV",
    "development",
    "`production` turns off demo data and developer routes. The service does not start if usable demo data exists.",
    oneOf("development", "test", "production"),
  ),
  port: setting("PORT", "3001", "Port of the HTTP and WebSocket server.", whole(1, 65_535)),
  host: optionalSetting(
    "HOST",
    "Address to listen on. Default: 127.0.0.1; in production 0.0.0.0 (all addresses).",
    plain,
  ),
  dataDir: setting(
    "DATA_DIR",
    ".data",
    "Folder of the embedded Postgres and of generated keys. A relative path is resolved from the working directory.",
    plain,
  ),
  databaseUrl: optionalSetting(
    "DATABASE_URL",
    "URL of an existing Postgres. Without it, an embedded Postgres is started under `DATA_DIR`. It may name several servers, as in `postgres://user:password@db1:5432,db2:5432/directory`: the service then uses the one that is the primary, and follows a failover. With `?target_session_attrs=primary` (or `read-write`) the only server must be the primary too.",
    secret(databaseUrl),
  ),
  pgBin: optionalSetting(
    "PG_BIN",
    "Folder of Postgres binaries for the embedded server, and of `pg_dump`, `pg_restore` and `psql` for backups.",
    plain,
  ),
  poolSize: setting("POOL_SIZE", "4", "Connections to Postgres per process.", whole(1, 200)),
  statementTimeoutMs: setting(
    "STATEMENT_TIMEOUT_MS",
    "8000",
    "Maximum run time of a statement, in milliseconds.",
    whole(100, 600_000),
  ),
  redisUrl: optionalSetting(
    "REDIS_URL",
    "Redis that delivers live updates between processes faster. Without it, they use only Postgres LISTEN/NOTIFY.",
    secret(redisUrl),
  ),
  workerOf: optionalSetting("WORKER_OF", "Set by the service for its own worker processes.", plain),
  workerFirst: setting(
    "WORKER_FIRST",
    "no",
    "Set by the service for its first worker process.",
    oneOf("yes", "no"),
  ),
  workers: setting("WORKERS", "1", "Number of processes that serve the port.", whole(1, 64)),
  baseUrl: optionalSetting(
    "BASE_URL",
    "Public address of the API. Default: http://localhost:PORT.",
    publicAddress,
  ),
  authUrl: optionalSetting(
    "AUTH_URL",
    "Public address of the authorization service. Default: BASE_URL.",
    publicAddress,
  ),
  webUrl: optionalSetting(
    "WEB_URL",
    "Public address of the partner web flows. Default: BASE_URL.",
    publicAddress,
  ),
  allowedOrigins: setting(
    "ALLOWED_ORIGINS",
    "*",
    "Origins whose browser scripts may call the API, comma-separated. `*` allows all.",
    origins,
  ),
  trustProxy: setting(
    "TRUST_PROXY",
    "off",
    "`on` uses X-Forwarded-For as the caller's address. Set it only behind a proxy that adds this header.",
    onOff,
  ),
  secretKeys: optionalSetting(
    "SECRET_KEYS",
    "Master keys as `id:secret` (32 random bytes in base64), newest first, comma-separated. **Required in production with `DATABASE_URL`.** Otherwise, without it, one is generated and stored under `DATA_DIR`. `npm run --silent cli -- keys generate` prints a new one.",
    secret(keyList),
  ),
  mintKey: optionalSetting(
    "MINT_KEY",
    "Private key (hex) that signs mint permissions. Without it, the key is derived from the newest master key. `npm run cli -- mint signer` prints its address.",
    secret(hexKey),
  ),
  adminEmail: optionalSetting(
    "ADMIN_EMAIL",
    "Email of an admin that is created or updated at each start.",
    email,
  ),
  adminPassword: optionalSetting("ADMIN_PASSWORD", "Password of that admin.", secret(password)),
  demo: optionalSetting(
    "DEMO",
    "`true` creates demo data; not allowed in production. Default: true outside production.",
    oneOf("true", "false"),
  ),
  demoPasswords: optionalSetting(
    "DEMO_PASSWORDS",
    "`published` uses the published demo passwords, such as alice-demo-1, even if `HOST` is not a loopback address, for example in a container whose port is published on 127.0.0.1. Without it, the demo passwords are then random and printed at startup, and developer routes accept only callers on this machine.",
    oneOf("published"),
  ),
  smtpUrl: optionalSetting(
    "SMTP_URL",
    "Mail server: `smtp://user:password@host:port` (uses TLS if the server offers it; `?requireTLS=true` requires it) or `smtps://…`.",
    secret(url("smtp:", "smtps:")),
  ),
  mailFrom: setting(
    "MAIL_FROM",
    "Emoji Id Directory <no-reply@localhost>",
    "Sender address of mails.",
    plain,
  ),
  twilioUrl: setting("TWILIO_URL", "https://api.twilio.com", "Address of Twilio's API.", web),
  twilioAccount: optionalSetting("TWILIO_ACCOUNT_SID", "Twilio account that sends SMS.", plain),
  twilioToken: optionalSetting("TWILIO_AUTH_TOKEN", "Token of the Twilio account.", secret()),
  twilioFrom: optionalSetting("TWILIO_FROM", "Sender number of the Twilio account.", plain),
  recaptchaSecret: optionalSetting(
    "RECAPTCHA_SECRET",
    "Secret key of reCAPTCHA. With it, registration, password sign-in, sign-in links and password resets need a verified `g_recaptcha_response`, unless the request has a valid API key. While the verifier cannot be reached, they answer 503. Requires `RECAPTCHA_SITE_KEY`.",
    secret(),
  ),
  recaptchaSiteKey: optionalSetting(
    "RECAPTCHA_SITE_KEY",
    "Site key of reCAPTCHA version 3, for the sign-in forms of the service's own pages. They then load scripts of Google.",
    plain,
  ),
  recaptchaUrl: setting(
    "RECAPTCHA_URL",
    "https://www.google.com/recaptcha",
    "Address of reCAPTCHA, without a slash at the end: `/api/siteverify` verifies responses, `/api.js` is the script of pages. Use `https://www.recaptcha.net/recaptcha` where google.com is blocked.",
    web,
  ),
  payments: optionalSetting(
    "PAYMENTS",
    "`sandbox` accepts test payments in production. No real money is charged, and the log and every page show this. Outside production the sandbox is always available.",
    oneOf("sandbox"),
  ),
  stripeKey: optionalSetting(
    "STRIPE_SECRET_KEY",
    "Secret key of Stripe, which then handles card and wallet payments instead of the sandbox. Without it, production has no paid payment method.",
    secret(),
  ),
  stripeWebhookSecret: optionalSetting(
    "STRIPE_WEBHOOK_SECRET",
    "Secret that verifies Stripe's webhooks.",
    secret(),
  ),
  stripeUrl: optionalSetting("STRIPE_URL", "Another address of Stripe's API, for tests.", web),
  scraperUrl: optionalSetting(
    "SCRAPER_URL",
    "Service behind `POST /proxy` with service Scraper. It receives `{data}` by POST. Without it, the response is 503.",
    web,
  ),
  rateLimit: setting(
    "RATE_LIMIT",
    "on",
    "`off` turns rate limits off for load tests; not allowed in production.",
    onOff,
  ),
  coldLookupsPerMinute: setting(
    "COLD_LOOKUPS_PER_MINUTE",
    "6000",
    "Lookups per minute that one address may make without them being in the cache, per process. A caller with a valid API key or access token has twice as many of its own. Cached lookups are not counted.",
    whole(1, 1_000_000_000),
  ),
  accessTokenSeconds: setting("ACCESS_TOKEN_SECONDS", "900", "Lifetime of an access token.", seconds),
  refreshTokenSeconds: setting("REFRESH_TOKEN_SECONDS", "2592000", "Lifetime of a refresh token.", seconds),
  magicLinkSeconds: setting(
    "MAGIC_LINK_SECONDS",
    "900",
    "Lifetime of a magic link and of a link that resets a password.",
    seconds,
  ),
  twoFactorGraceSeconds: setting(
    "TWO_FACTOR_GRACE_SECONDS",
    "900",
    "How long a two-factor code is valid for sensitive operations.",
    seconds,
  ),
  twoFactorLockSeconds: setting(
    "TWO_FACTOR_LOCK_SECONDS",
    "900",
    "How long no two-factor code of an account is accepted after five wrong codes in a row, in all its sign-ins together.",
    seconds,
  ),
  cartTtlSeconds: setting("CART_TTL_SECONDS", "300", "How long a checkout reserves its ids.", seconds),
  transferTtlSeconds: setting(
    "TRANSFER_TTL_SECONDS",
    "604800",
    "How long a transfer can be accepted.",
    seconds,
  ),
  transferBlockSeconds: setting(
    "TRANSFER_BLOCK_SECONDS",
    "86400",
    "How long an id cannot be transferred or minted after a transfer.",
    seconds,
  ),
  transferCodeSeconds: setting("TRANSFER_CODE_SECONDS", "600", "Lifetime of a transfer code.", seconds),
  interestHeadStartSeconds: setting(
    "INTEREST_HEAD_START_SECONDS",
    "300",
    "How much earlier the first interested user is notified than the others.",
    seconds,
  ),
  requestDeadlineSeconds: setting(
    "REQUEST_DEADLINE_SECONDS",
    "15",
    "A request without a response after this time gets 503.",
    seconds,
  ),
  drainSeconds: setting("DRAIN_SECONDS", "10", "How long a shutdown waits for running requests.", seconds),
  sweepIntervalMs: setting(
    "SWEEP_INTERVAL_MS",
    "500",
    "Interval between checks for passed deadlines.",
    whole(10, 60_000),
  ),
  lookupCacheMb: setting(
    "LOOKUP_CACHE_MB",
    "128",
    "Memory for precomputed lookup responses per process. If clients ask for proofs, the proofs take as much again.",
    // The cache cannot be larger, because a position in its memory is a number of limited size.
    whole(1, 32_768),
  ),
  proofSeconds: setting(
    "PROOF_SECONDS",
    "600",
    "How long a signed proof of an answer is valid. A wallet can be shown an answer that was changed since then.",
    whole(60, 86_400),
  ),
  liveMaxSockets: setting(
    "LIVE_MAX_SOCKETS",
    "50000",
    "Maximum number of live sockets per process; further ones get 503.",
    whole(1, 1_000_000),
  ),
  liveMaxSocketsPerAddress: setting(
    "LIVE_MAX_SOCKETS_PER_ADDRESS",
    "500",
    "Maximum number of live sockets per process from one address; further ones get 429.",
    whole(1, 1_000_000),
  ),
  ...retentionSettings,
  metricsPort: optionalSetting(
    "METRICS_PORT",
    "Port that serves only `GET /metrics`. `PORT` then does not serve it. In production, `GET /metrics` needs this or `METRICS_TOKEN`.",
    whole(1, 65_535),
  ),
  metricsToken: optionalSetting(
    "METRICS_TOKEN",
    "Token that `GET /metrics` requires, as `Authorization: Bearer TOKEN`. At least 16 characters.",
    secret(bearerSecret),
  ),
  gitCommit: optionalSetting(
    "GIT_COMMIT",
    "Commit that `GET /version` shows. `npm run build` uses it too. Default: the commit of the git checkout in which the build ran.",
    plain,
  ),
  otlpEndpoint: optionalSetting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Receiver of traces (OTLP over HTTP), for example `http://localhost:4318`. Spans are sent to its path `/v1/traces`. Without it, no request is traced.",
    secret(url("http:", "https:")),
  ),
  otlpServiceName: setting(
    "OTEL_SERVICE_NAME",
    "emoji-id-directory",
    "Name of this service in traces.",
    plain,
  ),
  traceRatio: setting(
    "OTEL_TRACES_SAMPLER_ARG",
    "1",
    "Share of the requests without `traceparent` that are traced, from 0 to 1. At most 100 requests per second and process are traced.",
    share,
  ),
  failpoint: optionalSetting(
    "FAILPOINT",
    "Kills the process at this named point, for crash tests; ignored in production.",
    plain,
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "Info",
    "Minimum level of log lines.",
    oneOf("Trace", "Debug", "Info", "Warn", "Error", "Fatal"),
  ),
}

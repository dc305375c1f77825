import { readDatabaseUrl, withHost } from "./database-url.ts"
import {
  baseUrl,
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
  url,
  whole,
} from "./variable-readers.ts"

const seconds = whole(1, 31_536_000)
const onOff = oneOf("on", "off")
const web = url("http:", "https:")
const postgresUrl = loginUrl("postgres:", "postgresql:")
const databaseUrl = (text: string) => {
  const given = postgresUrl(withHost(text))
  readDatabaseUrl(given)
  return given
}
const redisUrl = (text: string) => {
  const given = loginUrl("redis:", "rediss:")(text)
  if (!/^\/?\d*$/.test(new URL(given).pathname)) throw new Error("its path is no number of a database")
  return given
}
const publicAddress = baseUrl("http:", "https:")

/** Every environment variable the service reads. The README's table is made from this one. */
export const settings = {
  nodeEnv: setting(
    "NODE_ENV",
    "development",
    "`production` turns off demo data and developer routes, and refuses to start while demo data is usable.",
    oneOf("development", "test", "production"),
  ),
  port: setting("PORT", "3001", "Port of the HTTP and WebSocket server.", whole(1, 65_535)),
  host: optionalSetting(
    "HOST",
    "Address to listen on. Default: 127.0.0.1, in production 0.0.0.0 (all addresses).",
    plain,
  ),
  dataDir: setting(
    "DATA_DIR",
    ".data",
    "Folder of the embedded Postgres and of generated keys. A relative path starts at the working directory.",
    plain,
  ),
  databaseUrl: optionalSetting(
    "DATABASE_URL",
    "An existing Postgres. Without it one is started under `DATA_DIR`.",
    secret(databaseUrl),
  ),
  pgBin: optionalSetting("PG_BIN", "Folder of Postgres binaries for the embedded server.", plain),
  poolSize: setting("POOL_SIZE", "4", "Connections to Postgres per process.", whole(1, 200)),
  statementTimeoutMs: setting(
    "STATEMENT_TIMEOUT_MS",
    "8000",
    "Longest a statement may run.",
    whole(100, 600_000),
  ),
  redisUrl: optionalSetting(
    "REDIS_URL",
    "Redis for the bus between processes. Without it the bus is Postgres LISTEN/NOTIFY.",
    secret(redisUrl),
  ),
  workerOf: optionalSetting("WORKER_OF", "Set by the service for its own worker processes.", plain),
  workerFirst: setting("WORKER_FIRST", "no", "Set by the service for the first of them.", oneOf("yes", "no")),
  workers: setting("WORKERS", "1", "Processes that serve the port.", whole(1, 64)),
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
    "Origins that may call from a browser, comma-separated.",
    origins,
  ),
  trustProxy: setting("TRUST_PROXY", "off", "`on` believes X-Forwarded-For of the proxy in front.", onOff),
  secretKeys: optionalSetting(
    "SECRET_KEYS",
    "Master secrets `id:secret` (32 random bytes in base64), newest first, comma-separated. Without it one is kept under `DATA_DIR`.",
    secret(keyList),
  ),
  mintKey: optionalSetting(
    "MINT_KEY",
    "Private key (hex) that signs mint permissions. Without it one is derived from the newest master secret; `npm run cli -- mint signer` tells its address.",
    secret(hexKey),
  ),
  adminEmail: optionalSetting("ADMIN_EMAIL", "This admin exists after every start.", email),
  adminPassword: optionalSetting("ADMIN_PASSWORD", "Password of that admin.", secret(password)),
  demo: optionalSetting(
    "DEMO",
    "`true` seeds demo data; refused in production. Default: true outside production.",
    oneOf("true", "false"),
  ),
  demoPasswords: optionalSetting(
    "DEMO_PASSWORDS",
    "`published` keeps the README's demo passwords with a `HOST` that is not loopback, such as in a container whose port is published on 127.0.0.1. Without it they are random there and printed at startup, and developer routes answer only callers on this machine.",
    oneOf("published"),
  ),
  smtpUrl: optionalSetting(
    "SMTP_URL",
    "Mail server, `smtp://user:password@host:port` (TLS where it is offered; `?requireTLS=true` demands it) or `smtps://…`.",
    secret(url("smtp:", "smtps:")),
  ),
  mailFrom: setting("MAIL_FROM", "Emoji Id Directory <no-reply@localhost>", "Sender of the mails.", plain),
  twilioUrl: setting("TWILIO_URL", "https://api.twilio.com", "Address of Twilio's API.", web),
  twilioAccount: optionalSetting("TWILIO_ACCOUNT_SID", "Twilio account that sends SMS.", plain),
  twilioToken: optionalSetting("TWILIO_AUTH_TOKEN", "Its token.", secret()),
  twilioFrom: optionalSetting("TWILIO_FROM", "Its sender number.", plain),
  payments: optionalSetting(
    "PAYMENTS",
    "`sandbox` accepts test payments: no real money is charged, and the log and every page say so. Needed for the sandbox in production; elsewhere it is in use anyway.",
    oneOf("sandbox"),
  ),
  stripeKey: optionalSetting(
    "STRIPE_SECRET_KEY",
    "Takes card and wallet payments through Stripe instead of the sandbox. Without it production offers no paid method.",
    secret(),
  ),
  stripeWebhookSecret: optionalSetting("STRIPE_WEBHOOK_SECRET", "Verifies Stripe's webhooks.", secret()),
  stripeUrl: optionalSetting("STRIPE_URL", "Another address of Stripe's API, for tests.", web),
  scraperUrl: optionalSetting(
    "SCRAPER_URL",
    "The service behind `POST /proxy` with service Scraper; it is posted `{data}`. Without it that is 503.",
    web,
  ),
  rateLimit: setting("RATE_LIMIT", "on", "`off` for load tests; refused in production.", onOff),
  accessTokenSeconds: setting("ACCESS_TOKEN_SECONDS", "900", "Life of an access token.", seconds),
  refreshTokenSeconds: setting("REFRESH_TOKEN_SECONDS", "2592000", "Life of a refresh token.", seconds),
  magicLinkSeconds: setting("MAGIC_LINK_SECONDS", "900", "Life of a mailed link.", seconds),
  twoFactorGraceSeconds: setting(
    "TWO_FACTOR_GRACE_SECONDS",
    "900",
    "After this a sensitive operation wants a new code.",
    seconds,
  ),
  twoFactorLockSeconds: setting("TWO_FACTOR_LOCK_SECONDS", "900", "Lock after five wrong codes.", seconds),
  cartTtlSeconds: setting("CART_TTL_SECONDS", "300", "How long a checkout holds its ids.", seconds),
  transferTtlSeconds: setting(
    "TRANSFER_TTL_SECONDS",
    "604800",
    "How long a transfer waits for acceptance.",
    seconds,
  ),
  transferBlockSeconds: setting(
    "TRANSFER_BLOCK_SECONDS",
    "86400",
    "No further transfer or mint signature after one for so long.",
    seconds,
  ),
  transferCodeSeconds: setting("TRANSFER_CODE_SECONDS", "600", "Life of a transfer code.", seconds),
  interestHeadStartSeconds: setting(
    "INTEREST_HEAD_START_SECONDS",
    "300",
    "How long the first interested user is told before the rest.",
    seconds,
  ),
  requestDeadlineSeconds: setting(
    "REQUEST_DEADLINE_SECONDS",
    "15",
    "A request not answered by then is 503.",
    seconds,
  ),
  drainSeconds: setting("DRAIN_SECONDS", "10", "How long a stop waits for running requests.", seconds),
  sweepIntervalMs: setting(
    "SWEEP_INTERVAL_MS",
    "500",
    "Pause between looks for passed deadlines.",
    whole(10, 60_000),
  ),
  lookupCacheMb: setting(
    "LOOKUP_CACHE_MB",
    "128",
    "Memory for prepared lookup answers per process.",
    // No more than a place of the slabs can name.
    whole(1, 32_768),
  ),
  liveMaxSockets: setting(
    "LIVE_MAX_SOCKETS",
    "50000",
    "Live sockets per process; more are answered 503.",
    whole(1, 1_000_000),
  ),
  liveMaxSocketsPerAddress: setting(
    "LIVE_MAX_SOCKETS_PER_ADDRESS",
    "500",
    "Of those, from one address; more are answered 429.",
    whole(1, 1_000_000),
  ),
  eventKeepHours: setting(
    "EVENT_KEEP_HOURS",
    "24",
    "How long a live client may be away and still resume without loss.",
    whole(1, 8760),
  ),
  eventKeepPerChannel: setting(
    "EVENT_KEEP_PER_CHANNEL",
    "10000",
    "Events kept of one channel at most.",
    whole(1, 10_000_000),
  ),
  failpoint: optionalSetting(
    "FAILPOINT",
    "Ends the process at this named moment, for tests of crashes; ignored in production.",
    plain,
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "Info",
    "Least severe log line to print.",
    oneOf("Trace", "Debug", "Info", "Warn", "Error", "Fatal"),
  ),
}

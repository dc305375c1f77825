import { Effect, Exit, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Email } from "../../schema/accounts/email.ts"
import { checkPassword } from "../../src/accounts/passwords.ts"
import { settings } from "../../src/config/environment-variables.ts"
import { readConfig } from "../../src/config/read-config.ts"

const problems = (environment: Record<string, string>) => {
  const read = readConfig(environment)
  return "problems" in read ? read.problems : []
}
const config = (environment: Record<string, string> = {}) => {
  const read = readConfig(environment)
  if ("problems" in read) throw new Error(read.problems.join())
  return read.config
}

const secret = Buffer.alloc(32, 7).toString("base64")

describe("the validation of settings", () => {
  it.each([
    [{ PORT: "seventy" }, "PORT: expected a whole number from 1 to 65535"],
    [{ PORT: "70000" }, "PORT: expected a whole number from 1 to 65535"],
    [{ WORKERS: "0" }, "WORKERS: expected a whole number from 1 to 64"],
    [{ LOOKUP_CACHE_MB: "65536" }, "LOOKUP_CACHE_MB: expected a whole number from 1 to 32768"],
    [
      { DATABASE_URL: "mysql://x" },
      "DATABASE_URL: expected a URL starting with postgres:// or postgresql://",
    ],
    [{ REDIS_URL: "http://x" }, "REDIS_URL: expected a URL starting with redis:// or rediss://"],
    [{ REDIS_URL: "redis://x/main" }, "REDIS_URL: expected a path that is a database number, such as /0"],
    [{ REDIS_URL: "redis://:50%off@x" }, "REDIS_URL: write a % in the login or the path as %25"],
    [
      { DATABASE_URL: "postgres://me:50%off@x/db" },
      "DATABASE_URL: write a % in the login or the path as %25",
    ],
    [{ IDEMPOTENCY_KEEP_HOURS: "23" }, "IDEMPOTENCY_KEEP_HOURS: expected a whole number from 24 to 8760"],
    [{ EVENT_KEEP_HOURS: "0" }, "EVENT_KEEP_HOURS: expected a whole number from 1 to 8760"],
    [{ VIEW_KEEP_DAYS: "27" }, "VIEW_KEEP_DAYS: expected a whole number from 28 to 3650"],
    [{ UNSENT_MAIL_KEEP_DAYS: "3" }, "UNSENT_MAIL_KEEP_DAYS: expected a whole number from 4 to 3650"],
    [
      { SESSION_KEEP_HOURS: "1", ACCESS_TOKEN_SECONDS: "3600" },
      "SESSION_KEEP_HOURS: expected a longer time than ACCESS_TOKEN_SECONDS and five minutes",
    ],
    [{ BASE_URL: "example.com" }, "BASE_URL: expected a URL starting with http:// or https://"],
    [{ RATE_LIMIT: "no" }, "RATE_LIMIT: expected one of on, off"],
    [{ RATE_LIMIT: "off", NODE_ENV: "production" }, "RATE_LIMIT: off is not allowed in production"],
    [
      { DEMO: "true", NODE_ENV: "production" },
      "DEMO: true is not allowed in production, because the demo passwords are published",
    ],
    [
      { ADMIN_EMAIL: "a@b.c", ADMIN_PASSWORD: "admin-demo-1", NODE_ENV: "production" },
      "ADMIN_PASSWORD: a published demo password is not allowed in production",
    ],
    [{ DEMO_PASSWORDS: "mine" }, "DEMO_PASSWORDS: expected one of published"],
    [{ ADMIN_EMAIL: "a@b.c" }, "ADMIN_EMAIL: set both ADMIN_EMAIL and ADMIN_PASSWORD, or neither"],
    [{ ADMIN_EMAIL: "nobody", ADMIN_PASSWORD: "long enough" }, "ADMIN_EMAIL: expected an email address"],
    [
      { ADMIN_EMAIL: "<root@x.example>", ADMIN_PASSWORD: "long enough" },
      "ADMIN_EMAIL: expected an email address",
    ],
    [{ ADMIN_EMAIL: "a@b.c", ADMIN_PASSWORD: "🔑🔑🔑🔑" }, "ADMIN_PASSWORD: expected 8 to 200 characters"],
    [
      { ADMIN_EMAIL: "a@b.c", ADMIN_PASSWORD: "x".repeat(201) },
      "ADMIN_PASSWORD: expected 8 to 200 characters",
    ],
    [
      { SECRET_KEYS: "short" },
      "SECRET_KEYS: expected id:secret pairs, where each secret is 32 bytes in base64",
    ],
    [{ DEMO: "yes" }, "DEMO: expected one of true, false"],
    // These values must not be interpreted as `development`. Otherwise the developer route /dev/outbox would show all
    // mail to every caller.
    [{ NODE_ENV: "prod" }, "NODE_ENV: expected one of development, test, production"],
    [{ NODE_ENV: "production " }, "NODE_ENV: expected one of development, test, production"],
    [{ SECRET_KEYS: `k1:${secret},k1:${secret}` }, "SECRET_KEYS: the id k1 occurs twice"],
    [{ MINT_KEY: "0x12" }, "MINT_KEY: expected 32 bytes in hex"],
    [
      { ALLOWED_ORIGINS: "shop.example" },
      "ALLOWED_ORIGINS: shop.example is not an origin; expected the form https://shop.example",
    ],
    [
      { ALLOWED_ORIGINS: "https://shop.example/cart" },
      "ALLOWED_ORIGINS: https://shop.example/cart is not an origin; expected the form https://shop.example",
    ],
    [
      { BASE_URL: "https://x.example/?a=1" },
      "BASE_URL: expected an address without login, query and fragment",
    ],
    // The addresses of pages must not have a path, because the forms of the pages use paths from the root of the
    // host.
    [{ AUTH_URL: "https://x.example/login/" }, "AUTH_URL: expected an address without a path"],
    [
      { BASE_URL: "https://x.example/api", AUTH_URL: "https://auth.example" },
      "WEB_URL: set it to an address without a path, because BASE_URL, its default, has one",
    ],
    [{ PAYMENTS: "stripe" }, "PAYMENTS: expected one of sandbox"],
    [
      { PAYMENTS: "sandbox", STRIPE_SECRET_KEY: "sk", STRIPE_WEBHOOK_SECRET: "whsec" },
      "PAYMENTS: sandbox cannot be combined with STRIPE_SECRET_KEY, which charges real money",
    ],
    [{ STRIPE_SECRET_KEY: "sk" }, "STRIPE_WEBHOOK_SECRET: required with STRIPE_SECRET_KEY"],
  ])("reports an invalid setting in one line with the variable and the reason: %o", (environment, line) => {
    expect(problems(environment)).toEqual([line])
  })
  it("accepts a BASE_URL with a path if AUTH_URL and WEB_URL are set and have no path", () => {
    const pages = { AUTH_URL: "https://auth.example/", WEB_URL: "https://web.example" }
    expect(config({ BASE_URL: "https://x.example/api", ...pages })).toMatchObject({
      baseUrl: "https://x.example/api",
      authUrl: "https://auth.example",
    })
  })
  it("reports all invalid settings together", () => {
    expect(problems({ PORT: "x", WORKERS: "y" })).toHaveLength(2)
  })
  it("does not show the value of an invalid secret", () => {
    expect(problems({ SECRET_KEYS: "k1:my-secret-text" }).join()).not.toContain("my-secret-text")
  })
})

describe("the default settings", () => {
  it("configure a development service on port 3001, with demo data and one public address", () => {
    expect(config()).toMatchObject({
      port: 3001,
      production: false,
      demo: true,
      baseUrl: "http://localhost:3001",
      authUrl: "http://localhost:3001",
      webUrl: "http://localhost:3001",
      cartTtlSeconds: 300,
    })
  })
  it("turn off demo data and listen on all addresses in production", () => {
    expect(config({ NODE_ENV: "production" })).toMatchObject({ demo: false, host: "0.0.0.0" })
  })
  it("listen only on the loopback address outside production; HOST overrides the default everywhere", () => {
    expect(config().host).toBe("127.0.0.1")
    expect(config({ NODE_ENV: "test" }).host).toBe("127.0.0.1")
    expect(config({ HOST: "0.0.0.0" }).host).toBe("0.0.0.0")
    expect(config({ HOST: "10.0.0.1", NODE_ENV: "production" }).host).toBe("10.0.0.1")
  })
  it("allow test payments outside production, and in production only with `PAYMENTS=sandbox`", () => {
    expect(config().takesTestPayments).toBe(true)
    expect(config({ NODE_ENV: "production" }).takesTestPayments).toBe(false)
    expect(config({ NODE_ENV: "production", PAYMENTS: "sandbox" }).takesTestPayments).toBe(true)
  })
  it("are used for a variable that is set to an empty string", () => {
    expect(config({ PORT: "" }).port).toBe(3001)
  })
})

it("ADMIN_EMAIL and ADMIN_PASSWORD accept the same values as the API", () => {
  const isAccepted = (name: string, given: string) =>
    problems({ ADMIN_EMAIL: "a@b.c", ADMIN_PASSWORD: "long enough", [name]: given }).length === 0
  for (const address of [
    "a@b.c",
    "a,b@c.d",
    '"a"@b.c',
    "a@b;c",
    `${"a".repeat(250)}@b.c`,
    `${"a".repeat(251)}@b.c`,
  ])
    expect([address, isAccepted("ADMIN_EMAIL", address)]).toEqual([
      address,
      Schema.is(Schema.toType(Email))(address),
    ])
  for (const password of [
    "7 chars",
    "8 chars!",
    "🔑".repeat(7),
    "🔑".repeat(8),
    "🔑".repeat(200),
    "e\u0301".repeat(201),
  ])
    expect([password, isAccepted("ADMIN_PASSWORD", password)]).toEqual([
      password,
      Exit.isSuccess(Effect.runSyncExit(checkPassword(password))),
    ])
})

it("allowed origins are normalized to the form that browsers send", () => {
  const given = "https://Shop.Example/, http://localhost:8080, capacitor://localhost"
  expect(config({ ALLOWED_ORIGINS: given }).allowedOrigins).toEqual([
    "https://shop.example",
    "http://localhost:8080",
    "capacitor://localhost",
  ])
})

it("every setting has a unique name and a description", () => {
  const names = Object.values(settings).map((s) => s.name)
  expect(new Set(names).size).toBe(names.length)
  for (const { doc } of Object.values(settings)) expect(doc).toMatch(/\.$/)
})

import { afterAll, describe, expect, it } from "vitest"
import { connect } from "../../../src/postgres/client.ts"
import { freePort } from "../../fixtures/free-port.ts"
import { startProgram, temporaryFolder } from "../../fixtures/program.ts"
import { request } from "../../fixtures/service.ts"
import { patienceMs } from "../../fixtures/suite/patience.ts"
import { seeded } from "../../fixtures/walk.ts"
import { anonymous, type Caller, type Draft } from "../fuzz/draft.ts"
import { sendJourneys } from "../fuzz/fuzzer.ts"
import { type Answer, Lane } from "../fuzz/lane.ts"
import { Tally } from "../fuzz/tally.ts"
import { databaseOf, targetSettings } from "../fuzz/target.ts"
import { password, World } from "../fuzz/world.ts"

/**
 * Starts the program with known secrets, calls every operation, and then searches the log and a dump of the database
 * for each secret that was configured, sent or received.
 */

const { environment, facts } = targetSettings()
const folder = temporaryFolder()
const port = await freePort()
const configured = {
  TWILIO_AUTH_TOKEN: "twilio-token-0123456789",
  STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef",
}
const program = startProgram({
  ...environment,
  ...configured,
  PORT: String(port),
  DATA_DIR: folder,
  LOG_LEVEL: "Trace",
})
await program.printed(`http://localhost:${port}`, 3 * patienceMs)
const sql = connect({ connection: databaseOf(folder), poolSize: 2, statementTimeoutMs: 60_000 })
afterAll(async () => {
  await sql.end()
  program.child.kill("SIGTERM")
  await program.ended
})

const secrets = new Map<string, string>([
  ...facts.secrets.map((secret, at) => [secret, `configured secret ${at}`] as const),
  ...Object.entries(configured).map(([name, secret]) => [secret, name] as const),
  [password, "password"],
])
/** The part of a token that only its holder knows. The rest, such as the id of the session, is stored by design. */
const secretPart = (text: string): string => {
  if (text.includes(".")) return text.slice(text.lastIndexOf(".") + 1)
  return text.startsWith("svc_") ? text.slice(text.indexOf("_", 4) + 1) : text
}
const members = /^(access_token|refresh_token|api_key|client_secret|ga_secret|backup_codes|form_token)$/
const collect = (value: unknown, from: string): void => {
  if (typeof value !== "object" || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (!members.test(name)) collect(member, from)
    else
      for (const text of [member].flat())
        if (typeof text === "string" && secretPart(text).length > 7)
          secrets.set(secretPart(text), `${name} of ${from}`)
  }
}
const collectLinks = (text: string, from: string): void => {
  for (const [, token = ""] of text.matchAll(/[?&](?:refresh_token|code)=([\w.-]{20,})/g))
    secrets.set(secretPart(token), `link of ${from}`)
}

const tally = new Tally()
const lane = new Lane({ ...facts, port, sql }, tally, seeded(7))
lane.heard = ({ row, form }: Draft, { header, json, text }: Answer) => {
  collect(json, row.id)
  collect(form, row.id)
  if (row.id === "devOutbox") collectLinks(text, row.id)
  collectLinks(header("location") ?? "", row.id)
}
await sql`update app_user set role = 'Super' where email = ${facts.admin.email}`
const world = new World(lane)
await sendJourneys(world)
// The responses to requests with an Idempotency-Key are stored, so they contain secrets too.
const keyed = (operation: string, as: Caller, json: unknown) =>
  world.call(operation, { as, json, headers: { "idempotency-key": world.unique("key") } })
const user = await world.user("user", { password })
await keyed("login", anonymous, { email: user.email, password })
await keyed("createApiKey", user, { name: "stored" })
await keyed("enable2FA", user, { default: true, provider: "AuthenticatorApp" })
await keyed("createOauthClient", await world.root(), { name: "App", redirect_uris: ["https://app.example/"] })
lane.close()

const dump = async (): Promise<string> => {
  const tables = await sql<Array<{ name: string }>>`
    select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`
  const rows = await Promise.all(
    tables.map(({ name }) => sql.unsafe<Array<{ row: string }>>(`select t::text as row from ${name} t`)),
  )
  return rows
    .flat()
    .map(({ row }) => row)
    .join("\n")
}
/** The names of the secrets that the text contains, as they are or in another encoding. */
const foundIn = (text: string): ReadonlyArray<string> =>
  [...secrets]
    .filter(([secret]) =>
      (["utf8", "hex", "base64url"] as const).some((form) =>
        text.includes(Buffer.from(secret).toString(form)),
      ),
    )
    .map(([, name]) => name)

describe("after every operation was called once", () => {
  it("more than a hundred secrets of the configuration, of users, sessions, keys and links are known to this test", () => {
    expect(tally.violations).toEqual([])
    const kinds = new Set([...secrets.values()].map((name) => name.split(" ")[0]))
    expect([...kinds]).toEqual(
      expect.arrayContaining(["access_token", "refresh_token", "api_key", "client_secret"]),
    )
    expect([...kinds]).toEqual(expect.arrayContaining(["ga_secret", "backup_codes", "link", "form_token"]))
    expect(secrets.size).toBeGreaterThan(100)
    expect(foundIn(`a text with ${Buffer.from(password).toString("hex")}`)).toEqual(["password"])
  })

  it("a dump of the database contains none of the secrets", async () => {
    const text = await dump()
    expect(text).toContain(facts.admin.email)
    expect(foundIn(text)).toEqual([])
  })

  it("the log contains none of the secrets, even at the level Trace", () => {
    expect(program.output().length).toBeGreaterThan(0)
    expect(foundIn(program.output())).toEqual([])
  })
})

describe("an internal error", () => {
  it("shows neither SQL nor secrets to the client, and its log line contains no secret", async () => {
    const before = program.output().length
    await sql`alter table app_user rename to app_user_gone`
    const calls = [
      ["/auth/token", { email: "a@example.com", password }],
      ["/users", { email: "b@example.com", password }],
      ["/auth/magic_link", { email: "c@example.com" }],
    ] as const
    for (const [path, body] of calls) {
      const {
        body: shown,
        headers,
        status,
        text,
      } = await request(`http://127.0.0.1:${port}${path}`, "POST", { body })
      expect([path, status]).toEqual([path, 500])
      expect(Object.keys(shown)).toEqual(["error", "code", "request_id"])
      expect(text).not.toMatch(/app_user|select|relation|password|at \w+ \(/)
      expect(shown.request_id).toBe(headers.get("x-request-id"))
    }
    await sql`alter table app_user_gone rename to app_user`
    await expect
      .poll(() => program.output().slice(before).split("request failed").length)
      .toBe(1 + calls.length)
    expect(foundIn(program.output())).toEqual([])
  })
})

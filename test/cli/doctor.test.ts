import { chmodSync, mkdtempSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, it } from "vitest"
import { diagnose } from "../../src/cli/doctor/doctor.ts"
import { generateKey } from "../../src/cli/keys.ts"
import { mailTestCommands } from "../../src/cli/mail-test.ts"
import { readConfig } from "../../src/config/read-config.ts"
import { createDatabase } from "../fixtures/database.ts"
import { freePort } from "../fixtures/free-port.ts"
import { recaptchaSecret, serveRecaptcha } from "../fixtures/servers/recaptcha.ts"
import { startSmtp } from "../fixtures/servers/smtp.ts"

const { port, socketDir } = inject("postgres")
const found = async (environment: Record<string, string>) => {
  const { checks, ok } = await diagnose(environment)
  const of = (name: string) => checks.filter(({ check }) => check === name)
  return { ok, checks, of, one: (name: string) => of(name)[0] }
}
const newFolder = () => mkdtempSync(join(tmpdir(), "directory-doctor-"))
const secret = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString("base64")
const databaseUrl = async () => {
  const made = await createDatabase()
  if (!("database" in made)) throw new Error("the test database must be reached by its socket")
  return `postgres://postgres@localhost:${port}/${made.database}?host=${socketDir}`
}

it("doctor reports settings that cannot be read, and nothing else", async () => {
  const { checks, ok } = await found({ PORT: "seventy", SECRET_KEYS: "x" })
  expect(ok).toBe(false)
  expect(checks.map(({ check, message }) => `${check}: ${message.split(":")[0]}`)).toEqual([
    "settings: PORT",
    "settings: SECRET_KEYS",
  ])
})

it("doctor with a DATA_DIR without a database says so, and creates nothing there", async () => {
  const folder = join(newFolder(), "wrong")
  const { ok, one } = await found({ DATA_DIR: folder, PORT: String(await freePort()) })
  expect(ok).toBe(false)
  expect(one("database")).toMatchObject({
    state: "failed",
    message: expect.stringContaining("there is no database in"),
  })
  expect(one("secrets")).toMatchObject({ state: "warning" })
  expect(statSync(folder, { throwIfNoEntry: false })).toBeUndefined()
})

it("doctor of a production with mistakes names each of them with an advice, and prints no secrets", async () => {
  const dataDir = newFolder()
  writeFileSync(join(dataDir, "secret-key"), "k1:x")
  chmodSync(join(dataDir, "secret-key"), 0o644)
  const closed = await freePort()
  const { checks, one } = await found({
    NODE_ENV: "production",
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    DATABASE_URL: await databaseUrl(),
    SECRET_KEYS: `k1:${Buffer.alloc(32, 65).toString("base64")}`,
    REDIS_URL: `redis://:s3cret@127.0.0.1:${closed}`,
    SMTP_URL: `smtp://u:s3cret@127.0.0.1:${closed}`,
    TWILIO_ACCOUNT_SID: "AC1",
    TWILIO_AUTH_TOKEN: "s3cret",
    TWILIO_FROM: "+15550100",
    TWILIO_URL: `http://127.0.0.1:${closed}`,
  })
  expect(one("database")).toMatchObject({ state: "ok", message: expect.stringContaining("encoding UTF8") })
  expect(one("clock")).toMatchObject({ state: "ok" })
  expect(one("secrets")).toMatchObject({ state: "failed", message: expect.stringContaining("is not random") })
  expect(one("file modes")).toMatchObject({ state: "failed", advice: expect.stringContaining("chmod 600") })
  expect(one("redis")).toMatchObject({ state: "warning", message: expect.stringContaining("ECONNREFUSED") })
  expect(one("mail")).toMatchObject({ state: "failed", message: expect.stringContaining("ECONNREFUSED") })
  expect(one("sms")).toMatchObject({ state: "warning" })
  expect(one("payments")).toMatchObject({ state: "warning" })
  expect(one("base url")).toMatchObject({ state: "failed", advice: expect.stringContaining("BASE_URL") })
  expect(one("metrics")).toMatchObject({ state: "warning" })
  expect(one("service")).toMatchObject({ state: "warning", message: expect.stringContaining("no answer") })
  for (const { advice, message, state } of checks)
    expect(state === "ok" || message + advice !== "").toBe(true)
  expect(JSON.stringify(checks)).not.toContain("s3cret")
})

it("doctor accepts a mail server that accepts the login, and does not send a mail", async () => {
  const smtp = await startSmtp()
  const environment = { DATABASE_URL: await databaseUrl(), SECRET_KEYS: `k1:${secret}`, SMTP_URL: smtp.url }
  const { one } = await found({ ...environment, DATA_DIR: newFolder(), PORT: String(await freePort()) })
  expect(one("mail")).toMatchObject({ state: "ok" })
  expect(one("secrets")).toMatchObject({ state: "ok", message: '1 key in SECRET_KEYS, the newest is "k1"' })
  expect(smtp.read).toEqual([])
})

it("doctor asks the verifier of reCAPTCHA whether it accepts the secret", async () => {
  const verifier = await serveRecaptcha()
  const check = async (RECAPTCHA_SECRET: string) => {
    const environment = { RECAPTCHA_SECRET, RECAPTCHA_SITE_KEY: "site", RECAPTCHA_URL: verifier.url }
    const { one } = await found({ ...environment, DATA_DIR: newFolder(), PORT: String(await freePort()) })
    return one("recaptcha")
  }
  expect(await check(recaptchaSecret)).toMatchObject({ state: "ok" })
  expect(await check("of another site")).toMatchObject({
    state: "failed",
    advice: "Correct RECAPTCHA_SECRET.",
  })
  verifier.answerNext(502, "")
  expect(await check(recaptchaSecret)).toMatchObject({
    state: "warning",
    message: expect.stringContaining("status 502"),
  })
})

const context = (environment: Record<string, string>) => {
  const read = readConfig(environment)
  if ("problems" in read) throw new Error(read.problems.join())
  return { config: read.config, note: () => {}, signal: new AbortController().signal }
}

it("mail test sends a mail now and shows the answer of the server, or says why it cannot", async () => {
  const [command] = mailTestCommands
  const send = (SMTP_URL: string, to = "ops@example.com") =>
    command!.work({ words: [to], options: {} }, context({ SMTP_URL }))
  const smtp = await startSmtp()
  expect(await send(smtp.url)).toMatchObject({
    to: "ops@example.com",
    answer: expect.stringMatching(/^250 /),
  })
  expect(smtp.read).toEqual(["ops@example.com"])
  await expect(send("")).rejects.toThrow(/^SMTP_URL: not set/)
  await expect(send(smtp.url, "nobody")).rejects.toThrow("Not an email address: nobody")
  await expect(send(`smtp://127.0.0.1:${await freePort()}`)).rejects.toThrow(
    /^SMTP_URL: .*ECONNREFUSED.*\. Check the host and the port/,
  )
})

it("keys generate makes an entry that SECRET_KEYS accepts, a new one each time", async () => {
  const generate = (id?: string) =>
    generateKey.tool(
      { words: [], options: id === undefined ? {} : { id: [id] } },
      { note: () => {} },
    ) as Promise<{
      entry: string
    }>
  const { entry } = await generate("k2")
  expect(entry).toMatch(/^k2:/)
  expect(readConfig({ SECRET_KEYS: `${entry},${(await generate()).entry}` })).toHaveProperty("config")
  await expect(generate("a b")).rejects.toThrow(/--id/)
})

import { expect, it } from "vitest"
import { Outbox } from "../../src/turns/outbox.ts"
import { someEmail } from "../accounts/person.ts"
import { createDatabase } from "../fixtures/database.ts"
import { startSmtp } from "../fixtures/servers/smtp.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { startWorker } from "../fixtures/worker.ts"

const quickStop = { DRAIN_SECONDS: "1" }

const addresses = (count: number, prefix = "") => Array.from({ length: count }, () => prefix + someEmail())
const put = (service: TestService, recipients: ReadonlyArray<string>, kind: string) =>
  service.sql`insert into outbox ${service.sql(recipients.map((recipient) => ({ recipient, kind, payload: "{}" })))}`
const stateOf = async ({ sql }: TestService, to: string) => {
  const [row] = await sql`
    select sent_at is not null as sent, due_at = 'infinity' as given_up, tries from outbox where recipient = ${to}`
  return row
}
const metric = async (service: TestService, name: string) =>
  Number(
    (await service.call("GET", "/metrics")).text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  )

it("a mail with a 4xx answer is sent again later, a mail with a 5xx answer is abandoned, and both are counted", async () => {
  const answers = [450, 550]
  const smtp = await startSmtp({}, (_to, done) => {
    const responseCode = answers.shift()
    done(responseCode === undefined ? undefined : Object.assign(new Error("refused"), { responseCode }))
  })
  const service = await serve({ SMTP_URL: smtp.url, ...quickStop })
  // All services of this process count together. The test is the first one, because the mail of the others fails later.
  const outcomes = async () => {
    const names = ["delivered", "retried", "abandoned"].map(
      (one) => `outbox_deliveries_total{outcome="${one}"}`,
    )
    return Promise.all(names.map((name) => metric(service, name)))
  }
  const [delivered = 0, retried = 0, abandoned = 0] = await outcomes()
  const [busy, gone] = [someEmail(), someEmail()]
  await put(service, [busy], "magic_link")
  await expect.poll(outcomes).toEqual([delivered, retried + 1, abandoned])
  await put(service, [gone], "magic_link")
  await expect.poll(() => stateOf(service, gone)).toEqual({ sent: false, given_up: true, tries: 1 })
  await expect.poll(() => stateOf(service, busy)).toEqual({ sent: true, given_up: false, tries: 2 })
  expect(smtp.read).toEqual([busy, gone, busy])
  await expect.poll(outcomes).toEqual([delivered + 1, retried + 1, abandoned + 1])
})

it("other mail is sent while the server does not acknowledge the mail of some recipients", async () => {
  const smtp = await startSmtp({}, (to, done) => to.startsWith("hung") || done())
  const service = await serve({ SMTP_URL: smtp.url, ...quickStop })
  const hung = addresses(3, "hung-")
  const others = addresses(20)
  await put(service, hung, "security_notice")
  await expect.poll(() => smtp.read.length).toBe(3)
  await put(service, others, "security_notice")
  await put(service, hung, "magic_link")
  await put(service, others, "magic_link")
  const sent = async () =>
    (await service.sql`select recipient from outbox where sent_at is not null`).map(
      ({ recipient }) => recipient,
    )
  await expect.poll(async () => (await sent()).sort()).toEqual([...others, ...others].sort())
  expect(await metric(service, "outbox_sending")).toBe(6)
  expect(await metric(service, "outbox_waiting")).toBe(6)
  expect(await metric(service, "outbox_lag_seconds")).toBeGreaterThan(0)
})

it("other mail is sent while the server does not greet some connections", async () => {
  let connections = 0
  const smtp = await startSmtp({ onConnect: (_session, done) => ++connections <= 2 || done() })
  const service = await serve({ SMTP_URL: smtp.url, ...quickStop })
  await put(service, addresses(2), "security_notice")
  await expect.poll(() => connections).toBe(2)
  const to = someEmail()
  await put(service, [to], "order_receipt")
  await expect.poll(() => stateOf(service, to)).toMatchObject({ sent: true })
  expect(await metric(service, "outbox_sending")).toBe(2)
})

it("mails that cannot be rendered are abandoned, and other mail is sent", async () => {
  const smtp = await startSmtp()
  const service = await serve({ SMTP_URL: smtp.url, ...quickStop })
  // More than can be sent at the same time.
  const broken = addresses(20)
  await service.sql`insert into outbox ${service.sql(
    broken.map((recipient) => ({ recipient, kind: "security_notice", payload: '{"api_keys":[null]}' })),
  )}`
  for (const to of broken)
    await expect.poll(() => stateOf(service, to)).toEqual({ sent: false, given_up: true, tries: 1 })
  const to = someEmail()
  await put(service, [to], "security_notice")
  await expect.poll(() => stateOf(service, to)).toEqual({ sent: true, given_up: false, tries: 1 })
  expect(smtp.read).toEqual([to])
  await expect.poll(() => metric(service, "outbox_sending")).toBe(0)
})

it("codes are sent before receipts that were stored earlier, and receipts still get slots", async () => {
  const answers: Array<() => void> = []
  const smtp = await startSmtp({}, (_to, done) => void answers.push(done))
  const service = await serve({ SMTP_URL: smtp.url, ...quickStop })
  const receipts = addresses(40, "receipt-")
  const codes = addresses(40, "code-")
  await put(service, receipts, "order_receipt")
  await expect.poll(() => smtp.read.length).toBe(6)
  await put(service, codes, "two_factor_sms")
  await expect.poll(() => smtp.read.length).toBe(10)
  while (smtp.read.length < 60) {
    const before = smtp.read.length
    answers.shift()?.()
    await expect.poll(() => smtp.read.length).toBeGreaterThan(before)
  }
  const later = smtp.read.slice(10, 40).filter((to) => to.startsWith("code-"))
  expect(later.length).toBeGreaterThan(20)
  expect(later.length).toBeLessThan(30)
})

it("pauses after failed attempts double up to an hour and differ between messages", async () => {
  const service = await serve()
  const pauses = async (tries: number) => {
    const recipients = addresses(50)
    await service.sql`insert into outbox ${service.sql(
      recipients.map((recipient) => ({ recipient, kind: "order_receipt", payload: "{}", tries })),
    )}`
    const rows = await service.sql<{ id: number }[]>`select id from outbox where tries = ${tries}`
    await service.runtime.runPromise(
      Outbox.use((outbox) => outbox.retryLater({ id: rows[0]?.id ?? 0, tries: tries + 1 })),
    )
    for (const { id } of rows)
      await service.runtime.runPromise(Outbox.use((outbox) => outbox.retryLater({ id, tries })))
    const [found] = await service.sql<[{ least: number; most: number; different: number }]>`
      select min(extract(epoch from due_at - now()))::float8 as least, max(extract(epoch from due_at - at))::float8 as most,
             count(distinct due_at)::int as different
        from outbox where tries = ${tries}`
    return found
  }
  const [first, fourth, last] = [await pauses(1), await pauses(4), await pauses(91)]
  expect(first.different).toBe(50)
  expect(fourth.most).toBeGreaterThan(first.most)
  expect(fourth.least).toBeGreaterThan(2 * first.least)
  expect(last.most).toBeLessThan(3600 * 1.25 + 60)
  expect(last.least).toBeGreaterThan(2000)
})

it("a mail of a process that was killed while sending is sent by another process, and then not again", async () => {
  const database = await createDatabase()
  const answers: Array<() => void> = []
  const smtp = await startSmtp({}, (_to, done) => void answers.push(done))
  const worker = await startWorker(database, { SMTP_URL: smtp.url })
  const quiet = await serve({}, { database })
  const to = someEmail()
  await put(quiet, [to], "magic_link")
  await expect.poll(() => smtp.read).toEqual([to])
  await worker.kill()
  // The lease is as old as if most of it had passed.
  await quiet.sql`update outbox set due_at = due_at - interval '25 seconds'`
  const other = await serve({ SMTP_URL: smtp.url, ...quickStop }, { database })
  await expect.poll(() => smtp.read).toEqual([to, to])
  answers.at(-1)?.()
  await expect.poll(() => stateOf(other, to)).toEqual({ sent: true, given_up: false, tries: 2 })
})

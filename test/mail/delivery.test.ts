import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { render } from "../../src/mail/mail-texts.ts"
import { Outbox } from "../../src/turns/outbox.ts"
import { mails as mailsTo, register, someEmail } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"

interface Received {
  readonly to: ReadonlyArray<string>
  readonly raw: string
}

const mails: Array<Received> = []
/**
 * The errors with which the SMTP server rejects the next recipients. When this list is empty, it accepts recipients.
 */
const smtpRefusals: Array<{ readonly responseCode: number }> = []
/** The errors with which the SMTP server rejects the next senders. When this list is empty, it accepts senders. */
const senderRefusals: Array<{ readonly responseCode: number }> = []
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  onAuth: ({ password, username }, _session, done) =>
    username === "mailer" && password === "p@ss"
      ? done(null, { user: username })
      : done(new Error("wrong login")),
  onMailFrom: (_address, _session, done) => {
    const refusal = senderRefusals.shift()
    done(refusal === undefined ? null : Object.assign(new Error("refused"), refusal))
  },
  onRcptTo: (_address, _session, done) => {
    const refusal = smtpRefusals.shift()
    done(refusal === undefined ? null : Object.assign(new Error("refused"), refusal))
  },
  onData: (stream, session, done) => {
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.on("end", () => {
      mails.push({
        to: session.envelope.rcptTo.map(({ address }) => address),
        raw: Buffer.concat(chunks).toString(),
      })
      done()
    })
  },
})

interface Posted {
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly form: URLSearchParams
}
const posted: Array<Posted> = []
const gatewayAnswers: Array<number> = []
const readAll = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
const gateway = createServer(async (request, response) => {
  const form = new URLSearchParams(await readAll(request))
  posted.push({ url: request.url, authorization: request.headers.authorization, form })
  response.writeHead(gatewayAnswers.shift() ?? 201, { "content-type": "application/json" }).end("{}")
})

let service: TestService
beforeAll(async () => {
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve))
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve))
  const smtpPort = (smtp.server.address() as AddressInfo).port
  const gatewayPort = (gateway.address() as AddressInfo).port
  service = await serve({
    SMTP_URL: `smtp://mailer:p%40ss@127.0.0.1:${smtpPort}`,
    MAIL_FROM: "Directory <hello@directory.example>",
    TWILIO_URL: `http://127.0.0.1:${gatewayPort}`,
    TWILIO_ACCOUNT_SID: "AC1",
    TWILIO_AUTH_TOKEN: "tw-token",
    TWILIO_FROM: "+15005550006",
  })
})
afterAll(async () => {
  await service.stop()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
  await new Promise((resolve) => gateway.close(resolve))
})

const put = (to: string, kind: string, data: Record<string, unknown>) =>
  service.runtime.runPromise(Outbox.use((outbox) => outbox.put({ to, kind, data })))
const mailTo = (to: string) => expect.poll(() => mails.find((mail) => mail.to.includes(to)))
/** Waits until no message is being sent. Then the failure of the last attempt is stored. */
const attemptsEnd = () =>
  expect.poll(async () => (await service.call("GET", "/metrics")).text).toMatch(/^outbox_sending 0$/m)
/** Moves the next delivery attempt of the mail to the current time. */
const dueNow = async (to: string) => {
  await attemptsEnd()
  await service.sql`update outbox set due_at = now() where recipient = ${to} and due_at < 'infinity'`
}
const stateOf = async (to: string) => {
  const [row] = await service.sql`
    select sent_at is not null as sent, due_at = 'infinity' as given_up, tries from outbox where recipient = ${to}`
  return row
}

describe("mail", () => {
  it("is sent once by SMTP with its link and is marked as sent", async () => {
    const { email } = await register(service)
    await mailTo(email).toBeDefined()
    await expect.poll(() => stateOf(email)).toEqual({ sent: true, given_up: false, tries: 1 })
    const { raw } = mails.find((mail) => mail.to.includes(email)) ?? { raw: "" }
    const text = raw.replaceAll("=\r\n", "").replaceAll("=3D", "=")
    expect(text).toContain("From: Directory <hello@directory.example>")
    expect(text).toContain("Subject: Confirm your email address")
    expect(text).toContain((await mailsTo(service, email))[0]?.link)
    expect(mails.filter((mail) => mail.to.includes(email))).toHaveLength(1)
  })

  it("is sent by SMTP to an email address that begins like a phone number", async () => {
    const email = `+1${someEmail()}`
    await register(service, { email })
    await mailTo(email).toBeDefined()
    expect(posted.filter(({ form }) => form.get("To") === email)).toEqual([])
  })

  it("is retried after a temporary rejection and then marked as sent", async () => {
    const to = someEmail()
    smtpRefusals.push({ responseCode: 451 })
    await put(to, "security_notice", { change: "something changed" })
    await expect.poll(() => stateOf(to)).toMatchObject({ sent: false, tries: 1 })
    expect((await stateOf(to))?.["given_up"]).toBe(false)
    await dueNow(to)
    await mailTo(to).toBeDefined()
    await expect.poll(() => stateOf(to)).toMatchObject({ sent: true, tries: 2 })
    expect(mails.find((mail) => mail.to.includes(to))?.raw).toMatch(
      /Message-ID: <mail-\d+@directory\.example>/,
    )
  })

  it("is abandoned after a permanent rejection of the recipient", async () => {
    const to = someEmail()
    smtpRefusals.push({ responseCode: 550 })
    await put(to, "security_notice", { change: "something changed" })
    await expect.poll(() => stateOf(to)).toEqual({ sent: false, given_up: true, tries: 1 })
  })

  it("is retried if the server rejects the sender, because the operator can correct MAIL_FROM", async () => {
    const to = someEmail()
    senderRefusals.push({ responseCode: 553 })
    await put(to, "order_receipt", {})
    await expect.poll(() => stateOf(to)).toMatchObject({ tries: 1 })
    await expect.poll(() => senderRefusals).toHaveLength(0)
    await dueNow(to)
    await mailTo(to).toBeDefined()
  })

  it.each([
    ["magic_link", 8],
    ["order_receipt", 92],
    ["transfer_invitation", 92],
    ["security_notice", 92],
  ])("of the kind `%s` is abandoned after %d attempts", async (kind, tries) => {
    const to = someEmail()
    const refuseNext = () => smtpRefusals.push({ responseCode: 451 })
    const tryAgain = async (n: number) => {
      await attemptsEnd()
      refuseNext()
      await service.sql`update outbox set tries = ${n - 1}, due_at = now() where recipient = ${to}`
      await expect.poll(() => stateOf(to)).toMatchObject({ tries: n })
    }
    refuseNext()
    await put(to, kind, {})
    await expect.poll(() => stateOf(to)).toMatchObject({ tries: 1 })
    await tryAgain(tries - 1)
    await tryAgain(tries)
    await expect.poll(() => stateOf(to)).toEqual({ sent: false, given_up: true, tries })
  })

  it("that cannot be decrypted does not delay other mail, and is abandoned after eight attempts", async () => {
    const [broken, good] = [someEmail(), someEmail()]
    await service.sql`insert into outbox (recipient, kind, payload) values (${broken}, 'magic_link', 'v1.nonsense')`
    await put(good, "security_notice", { change: "something changed" })
    await mailTo(good).toBeDefined()
    await expect.poll(() => stateOf(broken)).toEqual({ sent: false, given_up: false, tries: 1 })
    await attemptsEnd()
    await service.sql`update outbox set tries = 7, due_at = now() where recipient = ${broken}`
    await expect.poll(() => stateOf(broken)).toEqual({ sent: false, given_up: true, tries: 8 })
  })
})

describe("SMS", () => {
  it("is posted to the gateway as a form with the account's credentials", async () => {
    const { token } = await register(service)
    const phone = "+14155550133"
    const body = { default: true, provider: "SMS", phone: "+1 (415) 555-0133" }
    await service.call("POST", "/account/2fa/enable", { token, body })
    await expect.poll(() => posted.length).toBe(1)
    const [{ authorization, form, url } = {} as Posted] = posted
    const code = (await mailsTo(service, phone))[0]?.code
    expect(url).toBe("/2010-04-01/Accounts/AC1/Messages.json")
    expect(authorization).toBe(`Basic ${Buffer.from("AC1:tw-token").toString("base64")}`)
    expect(Object.fromEntries(form)).toMatchObject({ To: phone, From: "+15005550006" })
    expect(form.get("Body")).toContain(code)
    await expect.poll(() => stateOf(phone)).toMatchObject({ sent: true })
  })

  it("is retried if the gateway fails, and abandoned if the gateway rejects the phone number", async () => {
    const [failing, refused] = ["+14155550134", "+14155550135"]
    gatewayAnswers.push(503)
    await put(failing, "two_factor_sms", { code: "123456" })
    await expect.poll(() => stateOf(failing)).toMatchObject({ sent: false, tries: 1 })
    await dueNow(failing)
    await expect.poll(() => stateOf(failing)).toMatchObject({ sent: true, tries: 2 })
    gatewayAnswers.push(400)
    await put(refused, "two_factor_sms", { code: "123456" })
    await expect.poll(() => stateOf(refused)).toMatchObject({ sent: false, given_up: true })
  })
})

describe("the outbox", () => {
  it("marks mail as sent in the commit that stores the mail, if no mail provider is configured", async () => {
    const quiet = await serve()
    const to = someEmail()
    await quiet.runtime.runPromise(
      Outbox.use((outbox) => outbox.put({ to, kind: "magic_link", data: { link: "http://localhost/1" } })),
    )
    expect(await quiet.sql`select sent_at = at as at_once from outbox where recipient = ${to}`).toEqual([
      { at_once: true },
    ])
    expect(await mailsTo(quiet, to)).toMatchObject([{ kind: "magic_link", link: "http://localhost/1" }])
  })

  it("leaves a message to other processes if this process cannot send it, and marks it as sent when it is long overdue", async () => {
    const quiet = await serve()
    const mailing = await serve({ SMTP_URL: "smtp://127.0.0.1:9" }, { database: quiet.database })
    const [fresh, code, old] = [someEmail(), "+14155550141", "+14155550142"]
    // The rows are equal to rows that a process stores if it can send mail and SMS.
    await quiet.sql`insert into outbox (recipient, kind, payload, due_at) values
      (${fresh}, 'magic_link', '{}', now()), (${code}, 'two_factor_sms', '{}', now()),
      (${old}, 'two_factor_sms', '{}', now() - interval '1 day')`
    await quiet.runtime.runPromise(Outbox.use((outbox) => outbox.keepDue))
    await mailing.runtime.runPromise(
      Outbox.use((outbox) => outbox.take({ total: 4, urgent: 4, other: 4 }, [])),
    )
    const counted = async (to: string) =>
      (await quiet.sql`select sent_at is not null as sent from outbox where recipient = ${to}`)[0]
    expect([await counted(fresh), await counted(code)]).toEqual([{ sent: false }, { sent: false }])
    expect((await quiet.sql`select tries from outbox where recipient = ${code}`)[0]).toEqual({ tries: 0 })
    await expect.poll(() => counted(old)).toEqual({ sent: true })
  })

  it("encrypts a message with a code, but not a receipt", async () => {
    const to = someEmail()
    const items = [{ name: "🎈🎈", price_in_cents: 400 }]
    await put(to, "order_receipt", { order_number: "1234abcd", items, total: 400 })
    await put(to, "transfer_sender_code", { code: "123456", eid: "🎈🎈", recipient: "b@example.com" })
    const rows = await service.sql`select payload from outbox where recipient = ${to} order by id`
    expect(JSON.parse(rows[0]?.["payload"])).toMatchObject({ order_number: "1234abcd", items })
    expect(rows[1]?.["payload"]).toMatch(/^v1\./)
    const received = () => mails.filter((mail) => mail.to.includes(to)).map(({ raw }) => raw)
    await expect.poll(() => received().join()).toContain("Receipt for order 1234abcd")
  })

  it("is listed by GET /dev/outbox with the newest mail first, but not in production", async () => {
    const to = someEmail()
    await put(to, "magic_link", { link: "http://localhost/1" })
    await put(to, "transfer_sender_code", { code: "123456", eid: "🎈", recipient: "b@example.com" })
    const list = await mailsTo(service, to.toUpperCase())
    expect(list.map(({ kind }) => kind)).toEqual(["transfer_sender_code", "magic_link"])
    expect(list[0]).toMatchObject({ to, code: "123456", at: expect.any(String), subject: expect.any(String) })
    expect(list[1]).toMatchObject({
      link: "http://localhost/1",
      text: expect.stringContaining("localhost/1"),
    })
    expect((await service.call("GET", "/dev/outbox")).status).toBe(400)

    const production = await serve({ NODE_ENV: "production", RATE_LIMIT: "on" })
    expect((await production.call("GET", `/dev/outbox?to=${to}`)).status).toBe(404)
    await production.stop()
  })
})

describe("the text of a mail", () => {
  const data = {
    code: "123456",
    link: "http://localhost/x",
    eid: "🎈",
    emoji_id: "🎈",
    sender: "a@example.com",
    recipient: "b@example.com",
    message: "for you",
    change: "a thing was changed",
    order_number: "abcd1234",
    items: [{ emoji_id: "🎈", unit_price_in_cents: 400 }, "plain"],
    total: 400,
  }
  it.each([
    ["magic_link", "http://localhost/x"],
    ["confirm_email", "http://localhost/x"],
    ["security_notice", "a thing was changed"],
    ["two_factor_sms", "123456"],
    ["transfer_sender_code", "123456"],
    ["transfer_receiver_code", "123456"],
    ["transfer_receiver_code", "for you"],
    ["transfer_invitation", "123456"],
    ["order_receipt", "$4.00"],
    ["order_expired", "abcd1234"],
    ["payment_kept", "abcd1234"],
    ["interest_available", "🎈"],
    ["a_kind_of_its_own", "for you"],
  ])("of the kind `%s` contains `%s`", (kind, text) => {
    const rendered = render({ kind, data })
    expect(rendered.text).toContain(text)
    expect(rendered.subject).not.toBe("")
    expect(rendered.subject).not.toMatch(/\n/)
  })

  it.each([
    [90, "90 seconds"],
    [60, "1 minute"],
    [7200, "2 hours"],
    [undefined, "10 minutes"],
  ])("with `good_seconds` = %s says that a transfer code is valid for %s", (good_seconds, life) => {
    for (const kind of ["transfer_sender_code", "transfer_receiver_code"])
      expect(render({ kind, data: { ...data, good_seconds } }).text).toContain(
        `The code is valid for ${life}.`,
      )
  })

  it("of the kind `order_receipt` shows prices and discounts in dollars", () => {
    const items = [
      { name: "🎈", price_in_cents: 340_000 },
      { name: "Discount", price_in_cents: -34_000 },
    ]
    const { text } = render({ kind: "order_receipt", data: { order_number: "1", items, total: 306_000 } })
    expect(text).toContain("- 🎈  $3,400.00\n- Discount  -$340.00\n\nTotal: $3,060.00")
  })
})

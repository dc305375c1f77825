import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { it } from "vitest"
import { Outbox } from "../../src/turns/outbox.ts"
import { someEmail } from "../accounts/person.ts"
import { serve } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

const timeout = 60_000

const sendThrough = async (options: SMTPServerOptions) => {
  const smtp = new SMTPServer({ authOptional: true, disabledCommands: ["STARTTLS", "AUTH"], ...options })
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve))
  cleanUp(() => new Promise<void>((resolve) => smtp.close(() => resolve())))
  const { port } = smtp.server.address() as AddressInfo
  const settings = { SMTP_URL: `smtp://127.0.0.1:${port}` }
  const { database, runtime, sql } = await serve(settings)
  // A second process, which would send the mail as soon as its lease ends.
  await serve(settings, { database })
  const to = someEmail()
  const message = { to, kind: "security_notice", data: { change: "something changed" } }
  await runtime.runPromise(Outbox.use((outbox) => outbox.put(message)))
  const state = async () => {
    const [row] = await sql`
      select sent_at is not null as sent, tries, extract(epoch from due_at - at)::int as leased
        from outbox where recipient = ${to}`
    return row
  }
  return { state }
}

it.concurrent("a mail server that delays its greeting by six seconds receives the mail at the first attempt", {
  timeout,
}, async ({ expect }) => {
  const postscreenMs = 6000
  const { state } = await sendThrough({
    onConnect: (_session, done) => void sleep(postscreenMs).then(() => done()),
  })
  await expect.poll(state, { timeout }).toMatchObject({ sent: true, tries: 1 })
})

it.concurrent("the lease of a mail is renewed while a slow server receives the mail, and the mail is sent once", {
  timeout,
}, async ({ expect }) => {
  const unanswered: Array<() => void> = []
  const { state } = await sendThrough({
    onData: (stream, _session, done) => {
      stream.resume()
      stream.on("end", () => unanswered.push(done))
    },
  })
  // The first lease ends 30 seconds after the mail is taken from the outbox. Every 8 seconds a renewal moves the end to
  // 30 seconds from then. If the lease ends 50 seconds after the mail was stored, it was renewed about three times.
  await expect.poll(async () => (await state())?.["leased"], { timeout }).toBeGreaterThanOrEqual(50)
  expect(unanswered).toHaveLength(1)
  unanswered[0]?.()
  await expect.poll(state).toMatchObject({ sent: true, tries: 1 })
})

import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Outbox } from "../../src/turns/outbox.ts"
import { someEmail } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"

/** The callbacks that acknowledge mails. Each mail in this list was read by the server and not acknowledged yet. */
const unanswered: Array<() => void> = []
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS", "AUTH"],
  onData: (stream, _session, done) => {
    stream.resume()
    stream.on("end", () => unanswered.push(done))
  },
})
beforeAll(() => new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve)))
afterAll(() => new Promise<void>((resolve) => smtp.close(() => resolve())))

const serveWithMail = (environment: Record<string, string> = {}) =>
  serve({ SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`, ...environment })
const beginMail = async (service: TestService) => {
  const to = someEmail()
  const message = { to, kind: "security_notice", data: { change: "something changed" } }
  await service.runtime.runPromise(Outbox.use((outbox) => outbox.put(message)))
  await expect.poll(() => unanswered.length).toBe(1)
  return to
}

it("a mail that is being sent when the service stops is marked as sent", async () => {
  const service = await serveWithMail()
  const to = await beginMail(service)
  const other = await serve({}, { database: service.database })
  const stopped = service.stop()
  // The service no longer accepts connections, so it is stopping.
  await expect.poll(() => fetch(`${service.url}/health`).catch(() => "gone")).toBe("gone")
  unanswered.shift()?.()
  await stopped
  const [row] = await other.sql`select sent_at is not null as sent from outbox where recipient = ${to}`
  expect(row).toEqual({ sent: true })
})

it("the service stops even if the mail server does not acknowledge a mail", async () => {
  const service = await serveWithMail({ DRAIN_SECONDS: "1" })
  await beginMail(service)
  await service.stop()
  expect(unanswered).toHaveLength(1)
  unanswered.shift()?.()
})

it("a process leases only the mails that it sends concurrently: six notices, and eight codes of ten slots", async () => {
  const service = await serveWithMail({ DRAIN_SECONDS: "1" })
  const insert = (kind: string) => {
    const rows = Array.from({ length: 12 }, () => ({ recipient: someEmail(), kind, payload: "{}" }))
    return service.sql`insert into outbox ${service.sql(rows)}`
  }
  const leased = async () =>
    Object.fromEntries(
      (
        await service.sql`select kind, count(*) filter (where tries > 0 and sent_at is null)::int as leased
                            from outbox group by kind`
      ).map(({ kind, leased: count }) => [kind, count]),
    )
  await insert("security_notice")
  await expect.poll(() => unanswered.length).toBe(6)
  await insert("magic_link")
  await expect.poll(() => unanswered.length).toBe(10)
  expect(await leased()).toEqual({ security_notice: 6, magic_link: 4 })
  // The slots of the notices become free, and codes take them first.
  for (const done of unanswered.splice(0, 6)) done()
  await expect.poll(leased).toEqual({ security_notice: 2, magic_link: 8 })
  await service.stop()
  for (const done of unanswered.splice(0)) done()
})

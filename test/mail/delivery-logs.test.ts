import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { expect, it, vi } from "vitest"
import { Outbox } from "../../src/turns/outbox.ts"
import { someEmail } from "../accounts/person.ts"
import { serve } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

/** Starts a service and sends a mail. The mail server rejects its recipient temporarily. */
const rejectedMail = async () => {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onRcptTo: ({ address }, _session, done) =>
      done(Object.assign(new Error(`<${address}>: no room`), { responseCode: 452 })),
  })
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve))
  cleanUp(() => new Promise<void>((resolve) => smtp.close(() => resolve())))
  const { port } = smtp.server.address() as AddressInfo
  const service = await serve({ SMTP_URL: `smtp://127.0.0.1:${port}`, LOG_LEVEL: "Warn" })
  const to = someEmail()
  const message = { to, kind: "security_notice", data: { change: "something changed" } }
  await service.runtime.runPromise(Outbox.use((outbox) => outbox.put(message)))
  return { service, to }
}

it("the log contains the reason why a mail was rejected, but not the recipient's address", async () => {
  const lines: Array<string> = []
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
  cleanUp(async () => log.mockRestore())
  const { to } = await rejectedMail()
  await expect.poll(() => lines.join("\n")).toContain("no room")
  expect(lines.join("\n")).not.toContain(to)
})

it("the metric `outbox_lag_seconds` includes a rejected mail until its delivery is abandoned", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  cleanUp(async () => log.mockRestore())
  const { service, to } = await rejectedMail()
  await service.sql`update outbox set at = now() - interval '1 hour' where recipient = ${to}`
  const tries = async () =>
    (await service.sql`select tries from outbox where recipient = ${to}`)[0]?.["tries"]
  await expect.poll(tries).toBe(1)
  const lag = async () =>
    Number(/^outbox_lag_seconds (\S+)$/m.exec((await service.call("GET", "/metrics")).text)?.[1])
  expect(await lag()).toBeGreaterThanOrEqual(3600)
  await service.sql`update outbox set due_at = 'infinity' where recipient = ${to}`
  expect(await lag()).toBe(0)
})

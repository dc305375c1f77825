import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

/** A mail server that accepts everything. It counts the mails; their codes are read at /dev/outbox. */
export interface MailSink {
  readonly url: string
  readonly received: ReadonlyMap<string, number>
  /** Accepts connections and answers nothing until `heal`. */
  hang(): void
  heal(): void
  stop(): Promise<void>
}

export const startMailSink = async (): Promise<MailSink> => {
  const received = new Map<string, number>()
  const waiting = new Set<() => void>()
  let hangs = false
  const answer = (done: () => void) => {
    if (hangs) waiting.add(done)
    else done()
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    onConnect: (_, done) => answer(done),
    onData: (stream, { envelope }, done) => {
      stream.resume().on("end", () =>
        answer(() => {
          for (const { address } of envelope.rcptTo) received.set(address, (received.get(address) ?? 0) + 1)
          done()
        }),
      )
    },
  })
  // A client that gives up resets its connection.
  server.on("error", () => {})
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  const heal = () => {
    hangs = false
    for (const done of waiting) done()
    waiting.clear()
  }
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    hang: () => {
      hangs = true
    },
    heal,
    stop: async () => {
      heal()
      await new Promise<void>((done) => server.close(done))
    },
  }
}

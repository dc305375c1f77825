import { PassThrough } from "node:stream"
import type { SendMailOptions, Transporter } from "nodemailer"

interface Limits {
  /** The maximum time until the content of a mail was sent. */
  readonly sendMs: number
  /** The maximum time after that until the server acknowledges the mail. */
  readonly acknowledgeMs: number
}

/** A client with one connection, which sends one mail at a time and opens the connection when it is needed. */
export class SmtpConnection {
  readonly #transport: Transporter
  readonly #limits: Limits
  #timer: NodeJS.Timeout | undefined
  isAborted = false

  constructor(transport: Transporter, limits: Limits) {
    this.#transport = transport
    this.#limits = limits
    transport.use("stream", ({ message }, done) => {
      // The stream ends when its last byte was read, which the client does after the server has asked for the content.
      message.transform(() => new PassThrough().once("end", () => this.#limit(limits.acknowledgeMs)))
      done()
    })
  }

  /** Fails if the server rejects the mail or exceeds a limit. After a limit was exceeded, the connection is closed. */
  async send(mail: SendMailOptions): Promise<void> {
    this.#limit(this.#limits.sendMs)
    try {
      await this.#transport.sendMail(mail)
    } finally {
      clearTimeout(this.#timer)
    }
  }

  /** Closes the connection, also while it sends a mail. The mail then fails. */
  abort(): void {
    this.isAborted = true
    clearTimeout(this.#timer)
    const close = this.#transport.close as (options: { readonly force: boolean }) => void
    close.call(this.#transport, { force: true })
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.abort(), ms)
  }
}

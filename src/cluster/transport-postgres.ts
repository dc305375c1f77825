import type { Sql } from "postgres"
import type { Transport, TransportHandlers } from "./transport.ts"

/** NOTIFY refuses a payload of 8000 bytes. */
export const notifyMaxBytes = 7_999

export interface PostgresTransportOptions {
  /** Opens a client with `postgresWireClient` among its options. */
  readonly connect: () => Sql
  readonly channel: string
  /** Longer than the heartbeats are apart: without one sent and one heard in that time the client has come to grief. */
  readonly silenceMs: number
  /** Another way to the same database, for when it takes no new connection: who can still commit there must be heard. */
  readonly notify?: (channel: string, payload: string) => Promise<unknown>
}

/** The wire wants a client of its own, or a busy pool would delay heartbeats until everybody stops caching. */
export const postgresTransportClient = {
  /** One spare, for when the other hangs. */
  max: 2,
  /** Each second without the wire is a second without caches: do not back off for long. */
  backoff: (): number => 0.1,
  keep_alive: 5,
  /** Nothing here needs them, and a connection that ends while they are fetched rejects a promise nobody holds. */
  fetch_types: false,
  connection: {
    /** A notification need not outlive the server, and so need not wait for the disk. */
    synchronous_commit: "off",
    /** Who listens says nothing: an operator's limit for idle sessions would cut it off. Zero, for none, is not sent. */
    idle_session_timeout: 2_147_483_647,
  },
}

/**
 * LISTEN and NOTIFY. The client connects and listens again by itself and says so, but when it was cut again meanwhile it was
 * seen to come back without listening, or to answer no statement any more; and a connection may die without a sign.
 * So a client that is silent, either way, is replaced.
 */
export const postgresTransport = ({
  connect,
  channel,
  notify,
  silenceMs,
}: PostgresTransportOptions): Transport => {
  let client: Sql | undefined
  let hasHeard = true
  let hasSaid = true

  const listen = async ({ onMessage, onUp }: TransportHandlers): Promise<void> => {
    const mine = connect()
    client = mine
    await mine.listen(
      channel,
      (payload) => {
        if (client !== mine) return
        hasHeard = true
        onMessage(payload)
      },
      () => {
        if (client === mine) onUp()
      },
    )
  }

  const end = async (timeoutSeconds: number): Promise<void> => {
    const last = client
    client = undefined
    await last?.end({ timeout: timeoutSeconds }).catch(() => {})
  }

  const soon = (said: Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(reject, silenceMs)
      said.then(resolve, reject).finally(() => clearTimeout(timer))
    })

  return {
    maxBytes: notifyMaxBytes,
    publish: async (payload) => {
      if (client === undefined) throw new Error("The wire is not open")
      const said = client`select pg_notify(${channel}, ${payload})`.then(() => {
        hasSaid = true
      })
      await (notify === undefined ? said : soon(said).catch(() => notify(channel, payload)))
    },
    open: async (handlers) => {
      try {
        await listen(handlers)
      } catch (cause) {
        await end(0)
        throw cause
      }
      const watch = setInterval(() => {
        const isReplaced = !hasHeard || !hasSaid
        if (isReplaced) {
          end(0)
          listen(handlers).catch(() => {})
        }
        // A new client is given one more turn, to connect.
        hasHeard = isReplaced
        hasSaid = isReplaced
      }, silenceMs)
      return {
        close: () => {
          clearInterval(watch)
          return end(1)
        },
      }
    },
  }
}

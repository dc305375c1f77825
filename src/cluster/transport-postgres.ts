import type { Sql } from "postgres"
import type { Transport, TransportHandlers } from "./transport.ts"

/** The payload limit of NOTIFY: it rejects 8000 bytes. */
export const notifyMaxBytes = 7_999

export interface PostgresTransportOptions {
  /** Opens a client with the options `postgresTransportClient`. */
  readonly connect: () => Sql
  readonly channel: string
  /**
   * Must exceed the heartbeat interval. A client that has sent nothing, or has received nothing, for this time is
   * replaced.
   */
  readonly silenceMs: number
  /**
   * Sends through another connection if the client fails to send in time. A process that can commit must also be able
   * to announce its changes.
   */
  readonly notify?: (channel: string, payload: string) => Promise<unknown>
}

/** The transport has its own client. With a busy shared pool, late heartbeats would turn off the caches. */
export const postgresTransportClient = {
  /** The second connection is used when the first one hangs. */
  max: 2,
  /** Short, because caches are off while the transport is down. */
  backoff: (): number => 0.1,
  keep_alive: 5,
  /** Types are not needed, and a connection that ends while they are fetched causes an unhandled rejection. */
  fetch_types: false,
  connection: {
    /** Notifications do not survive a server crash, so they need not wait for the disk. */
    synchronous_commit: "off",
    /**
     * A listening session is idle, so a limit of the server would end it. The longest limit is set, because the
     * client does not send the value zero (no limit).
     */
    idle_session_timeout: 2_147_483_647,
  },
}

/**
 * LISTEN and NOTIFY. The client reconnects and listens again by itself. But after another disconnect during the
 * reconnect, it was observed to stop listening or to answer no statements, and a connection may die unnoticed. So a
 * client that has sent nothing, or has received nothing, for `silenceMs` is replaced.
 */
export const postgresTransport = ({
  connect,
  channel,
  notify,
  silenceMs,
}: PostgresTransportOptions): Transport => {
  let client: Sql | undefined
  let hasReceived = true
  let hasSent = true

  const listen = async ({ onMessage, onUp }: TransportHandlers): Promise<void> => {
    const mine = connect()
    client = mine
    await mine.listen(
      channel,
      (payload) => {
        if (client !== mine) return
        hasReceived = true
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

  const withTimeout = (sent: Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(reject, silenceMs)
      sent.then(resolve, reject).finally(() => clearTimeout(timer))
    })

  return {
    maxBytes: notifyMaxBytes,
    publish: async (payload) => {
      if (client === undefined) throw new Error("The transport is not open")
      const sent = client`select pg_notify(${channel}, ${payload})`.then(() => {
        hasSent = true
      })
      await (notify === undefined ? sent : withTimeout(sent).catch(() => notify(channel, payload)))
    },
    open: async (handlers) => {
      try {
        await listen(handlers)
      } catch (cause) {
        await end(0)
        throw cause
      }
      const watch = setInterval(() => {
        const isReplaced = !hasReceived || !hasSent
        if (isReplaced) {
          end(0)
          listen(handlers).catch(() => {})
        }
        // A new client gets one more interval to connect.
        hasReceived = isReplaced
        hasSent = isReplaced
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

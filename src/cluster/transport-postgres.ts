import type { PendingQuery, Row, Sql } from "postgres"
import type { Sent, Transport, TransportHandlers } from "./transport.ts"

/** The payload limit of NOTIFY: it rejects 8000 bytes. */
export const notifyMaxBytes = 7_999

export interface PostgresTransportOptions {
  /** Opens a client with the options `postgresTransportClient`. */
  readonly connect: () => Sql
  /** The channel for messages to all processes. */
  readonly channel: string
  /** Further channels to listen to. */
  readonly others?: Readonly<Record<string, (payload: string) => void>>
  /**
   * Must exceed the heartbeat interval. A client that has sent nothing, or has received nothing, for this time is
   * replaced.
   */
  readonly silenceMs: number
  /**
   * Sends through another connection if the client fails to send in time. A process that can commit must also be able
   * to announce its changes.
   */
  readonly notify?: (pairs: string) => Promise<unknown>
}

/** A transport that also runs other statements on its connections. */
export interface PostgresTransport extends Transport {
  /** Runs a statement. Rejects if the connections do not respond in time. */
  run<A>(statement: (client: Sql) => PromiseLike<A>): Promise<A>
}

/** Sends notifications. `pairs` is a JSON list of channels and payloads. */
export const notifications = (q: Sql, pairs: string): PendingQuery<Array<Row>> =>
  q`select pg_notify(m->>0, m->>1) from jsonb_array_elements(${pairs}::text::jsonb) m`

/** The channel of messages to one process. */
export const channelOf = (channel: string, id: string): string => `${channel}_${id}`

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
  others = {},
  silenceMs,
}: PostgresTransportOptions): PostgresTransport => {
  let client: Sql | undefined
  let hasReceived = true
  let hasSent = true

  const listen = async (own: string | undefined, { onMessage, onUp }: TransportHandlers): Promise<void> => {
    const mine = connect()
    client = mine
    const receive = (payload: string) => {
      if (client !== mine) return
      hasReceived = true
      onMessage(payload)
    }
    // All channels use one connection, in this order, so the last one tells for all that the client listens again.
    if (own !== undefined) await mine.listen(channelOf(channel, own), receive)
    for (const [other, onOther] of Object.entries(others)) await mine.listen(other, onOther)
    await mine.listen(channel, receive, () => {
      if (client === mine) onUp()
    })
  }

  const end = async (timeoutSeconds: number): Promise<void> => {
    const last = client
    client = undefined
    await last?.end({ timeout: timeoutSeconds }).catch(() => {})
  }

  const withTimeout = <A>(sent: Promise<A>): Promise<A> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(reject, silenceMs)
      sent.then(resolve, reject).finally(() => clearTimeout(timer))
    })

  return {
    maxBytes: notifyMaxBytes,
    run: async (statement) => {
      if (client === undefined) throw new Error("The transport is not open")
      return withTimeout(
        Promise.resolve(statement(client)).then((result) => {
          hasSent = true
          return result
        }),
      )
    },
    publish: async (messages: ReadonlyArray<Sent>) => {
      if (client === undefined) throw new Error("The transport is not open")
      const pairs = JSON.stringify(
        messages.map(({ payload, to }) => [to === undefined ? channel : channelOf(channel, to), payload]),
      )
      const sent = notifications(client, pairs).then(() => {
        hasSent = true
      })
      await (notify === undefined ? sent : withTimeout(sent).catch(() => notify(pairs)))
    },
    open: async (own, handlers) => {
      try {
        await listen(own, handlers)
      } catch (cause) {
        await end(0)
        throw cause
      }
      const watch = setInterval(() => {
        const isReplaced = !hasReceived || !hasSent
        if (isReplaced) {
          end(0)
          listen(own, handlers).catch(() => {})
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

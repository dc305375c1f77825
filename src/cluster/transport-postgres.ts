import type { Options, PendingQuery, Row, Sql } from "postgres"
import type { Sent, Transport, TransportHandlers } from "./transport.ts"

/** The payload limit of NOTIFY: it rejects 8000 bytes. */
export const notifyMaxBytes = 7_999

export type ClientOptions = Options<Record<string, never>>

export interface PostgresTransportOptions {
  /** Opens a client with these options. */
  readonly connect: (options: ClientOptions) => Sql
  /** The channel for messages to all processes. */
  readonly channel: string
  /** Further channels to listen to. */
  readonly others?: Readonly<Record<string, (payload: string) => void>>
  /**
   * Must exceed the heartbeat interval. Clients that have sent nothing, or have received nothing, for this time are
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

/** The transport has its own clients. With a busy shared pool, late heartbeats would turn off the caches. */
export const postgresTransportClient = {
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

/** The second connection is used when the first one hangs. */
const senders = 2
/** Short, because caches are off while the transport is down. */
const retryMs = 100
/** Statements that run on a replaced client get this long to finish. */
const endSeconds = 1

interface Clients {
  readonly receiver: Sql
  readonly sender: Sql
}

/**
 * LISTEN and NOTIFY. The receiver listens on all channels by one statement, so it hears all of them or none. `Sql.listen`
 * is not used: it listens again by itself after a disconnect, but after another disconnect during that, it was observed
 * to miss some of its channels, or to answer no statements. Instead, all clients are replaced when the receiver loses its
 * connection. A connection may also die unnoticed, so clients that have sent nothing, or have received nothing, for
 * `silenceMs` are replaced too.
 */
export const postgresTransport = ({
  connect,
  channel,
  notify,
  others = {},
  silenceMs,
}: PostgresTransportOptions): PostgresTransport => {
  let clients: Clients | undefined
  let hasReceived = true
  let hasSent = true
  /** Set while the transport is open. */
  let replace: (() => void) | undefined
  let retry: NodeJS.Timeout | undefined

  const end = async (timeout: number): Promise<void> => {
    const last = clients
    clients = undefined
    clearTimeout(retry)
    await Promise.allSettled([last?.receiver.end({ timeout: 0 }), last?.sender.end({ timeout })])
  }

  const listen = async (own: string | undefined, { onMessage, onUp }: TransportHandlers): Promise<void> => {
    const receive = (payload: string) => {
      hasReceived = true
      onMessage(payload)
    }
    const channels = new Map([
      ...Object.entries(others),
      [channel, receive] as const,
      ...(own === undefined ? [] : [[channelOf(channel, own), receive] as const]),
    ])
    const isCurrent = () => clients === mine
    let isListening = false
    const options = {
      ...postgresTransportClient,
      max: 1,
      onnotify: (from: string, payload: string) => {
        if (isCurrent()) channels.get(from)?.(payload)
      },
      onclose: () => {
        if (isCurrent() && isListening) replace?.()
      },
    }
    const mine: Clients = {
      receiver: connect(options),
      sender: connect({ ...postgresTransportClient, max: senders }),
    }
    clients = mine
    const { receiver } = mine
    try {
      await receiver.unsafe([...channels.keys()].map((name) => `listen "${name}"`).join("; ")).simple()
    } catch (cause) {
      if (isCurrent()) retry = setTimeout(() => replace?.(), retryMs)
      throw cause
    }
    isListening = true
    if (isCurrent()) onUp()
  }

  const withTimeout = <A>(sent: Promise<A>): Promise<A> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(reject, silenceMs)
      sent.then(resolve, reject).finally(() => clearTimeout(timer))
    })

  return {
    maxBytes: notifyMaxBytes,
    run: async (statement) => {
      if (clients === undefined) throw new Error("The transport is not open")
      return withTimeout(
        Promise.resolve(statement(clients.sender)).then((result) => {
          hasSent = true
          return result
        }),
      )
    },
    publish: async (messages: ReadonlyArray<Sent>) => {
      if (clients === undefined) throw new Error("The transport is not open")
      const pairs = JSON.stringify(
        messages.map(({ payload, to }) => [to === undefined ? channel : channelOf(channel, to), payload]),
      )
      const sent = notifications(clients.sender, pairs).then(() => {
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
      replace = () => {
        void end(endSeconds)
        // The new clients get one more interval to connect.
        hasReceived = true
        hasSent = true
        listen(own, handlers).catch(() => {})
      }
      const watch = setInterval(() => {
        if (!hasReceived || !hasSent) {
          replace?.()
          return
        }
        hasReceived = false
        hasSent = false
      }, silenceMs)
      return {
        close: () => {
          clearInterval(watch)
          replace = undefined
          return end(1)
        },
      }
    },
  }
}

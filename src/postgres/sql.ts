import { Context, Effect, Layer, Schedule } from "effect"
import postgres from "postgres"
import { Unavailable } from "../../schema/errors.ts"
import { sessionSettings } from "../config/database-session-settings.ts"
import { readDatabaseUrl } from "../config/database-url.ts"
import { Connections } from "./connections.ts"
import { arrayTypes } from "./sql-arrays.ts"
import {
  isBroken,
  isUndone,
  mayPass,
  noWrites,
  type SqlRefused,
  toFailure,
  unreached,
} from "./sql-failures.ts"
import { watchStatements } from "./statement-watchdog.ts"
import { WriteFailures } from "./write-failures.ts"

export type DatabaseAddress =
  | { readonly url: string }
  | { readonly socketDir: string; readonly port: number; readonly database: string }

export interface SqlOptions {
  readonly connection: DatabaseAddress
  readonly poolSize: number
  readonly statementTimeoutMs: number
  /** Further options of the client, for connections with a special purpose. */
  readonly client?: postgres.Options<Record<string, never>>
}

export type Client = postgres.Sql
/** A part of a statement. The template tag of the client creates it. */
export type SqlPiece = postgres.PendingQuery<postgres.Row[]>
type Statement = (client: Client) => ReturnType<Client>

/**
 * Removes the gap at the start of a result. If a statement fails after its first rows, the client (postgres 3.4.9)
 * does not reset its row counter. The rows of the next statement on the same connection then start at a higher index,
 * and index 0 is empty.
 */
const withoutGap = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  rows.length === 0 || 0 in rows ? rows : rows.filter(() => true)

const firstPause = "20 millis"
const retryPolicy = Schedule.max([Schedule.exponential("40 millis"), Schedule.recurs(3)])

const isoTimestamp = {
  to: 1184,
  from: [1184],
  serialize: (value: string | Date) => (typeof value === "string" ? value : value.toISOString()),
  parse: (text: string) => new Date(text).toISOString(),
}
const safeBigint = { to: 20, from: [20], serialize: String, parse: Number }

export const connect = (options: SqlOptions): Client => {
  const settings = {
    max: options.poolSize,
    connect_timeout: 5,
    max_lifetime: null,
    onnotice: () => {},
    ...options.client,
    fetch_types: false,
    types: { isoTimestamp, safeBigint, ...arrayTypes } as never,
    connection: {
      ...options.client?.connection,
      application_name: "emoji-id-directory",
      ...sessionSettings(options.statementTimeoutMs),
    },
  }
  if ("url" in options.connection) {
    const { options: urlOptions, url } = readDatabaseUrl(options.connection.url)
    return postgres(url, { ...settings, ...urlOptions } as typeof settings)
  }
  const { database, port, socketDir: host } = options.connection
  return postgres({ ...settings, host, port, user: "postgres", database })
}

/**
 * Runs statements on Postgres. Every call is one statement: when connections break, the client was measured to mix up
 * transactions of several statements, while single statements are safe.
 */
export class Sql extends Context.Service<
  Sql,
  {
    /**
     * Runs a read, or a write that is safe to repeat. It is retried after a temporary failure, such as a broken
     * connection. A statement that Postgres rejects is a defect.
     */
    rows<Row>(statement: Statement): Effect.Effect<ReadonlyArray<Row>, Unavailable>
    /**
     * Does the same as `rows`, but a statement that Postgres rejects fails with SqlRefused, which the caller handles.
     */
    attempt<Row>(statement: Statement): Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>
    /**
     * Runs a write that must not run twice. It is retried only if the database never received it or has rolled it
     * back. If the connection breaks, it fails with Unavailable, and it is unknown whether the write was committed.
     */
    once<Row>(statement: Statement): Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>
    /** The number of statements that can run concurrently. */
    readonly poolSize: number
    readonly statementTimeoutMs: number
    stats(): { readonly running: number }
    /** Whether Postgres rejected writes recently. */
    writesFail(): boolean
  }
>()("directory/Sql") {
  static readonly layer = (options: SqlOptions) =>
    Layer.effect(
      Sql,
      Effect.gen(function* () {
        const fork = Effect.runForkWith(yield* Effect.context<never>())
        const open = () => new Connections(options.poolSize, () => connect({ ...options, poolSize: 1 }))
        let connections: Connections = yield* Effect.acquireRelease(Effect.sync(open), () =>
          Effect.promise(() => connections.end()),
        )
        let running = 0
        const writeFailures = new WriteFailures()
        const noteWriteFailure = (failure: Unavailable | SqlRefused, error: unknown) => {
          if (failure !== noWrites || !writeFailures.note(performance.now())) return
          fork(Effect.logError("postgres rejects writes", { reason: (error as Error).message }))
        }
        // If the database host disappears, its connections are not closed. The client would wait and send more
        // statements to them. So all connections are replaced.
        const replace = () => {
          fork(Effect.logWarning("postgres connections do not respond and are replaced"))
          connections.end().catch(() => {})
          connections = open()
        }
        const statements = yield* Effect.acquireRelease(
          Effect.sync(() =>
            watchStatements({ deadlineMs: options.statementTimeoutMs + 2000, onSilence: replace }),
          ),
          ({ stop }) => Effect.sync(stop),
        )

        const send = <Row>(statement: Statement) =>
          Effect.callback<ReadonlyArray<Row>, Unavailable | SqlRefused>((resume) => {
            const since = performance.now()
            const connection = connections.next(since)
            const { client } = connection
            const query = statement(client)
            const one = {
              since,
              query,
              giveUp: () =>
                resume(
                  Effect.fail(
                    new Unavailable({
                      error: "The database did not respond in time. Retry later.",
                      retryAfterSeconds: 2,
                    }),
                  ),
                ),
            }
            const answered = () => {
              running--
              connection.answered(performance.now())
              statements.answered(one)
            }
            running++
            connection.begun(since)
            statements.begun(one)
            query.then(
              (rows) => {
                answered()
                resume(Effect.succeed(withoutGap(rows as unknown as ReadonlyArray<Row>)))
              },
              (error) => {
                answered()
                resume(
                  Effect.suspend(() => {
                    const failure = toFailure(error)
                    if (failure === unreached) connection.refused(performance.now())
                    else if (isBroken(error)) connection.renew(client)
                    noteWriteFailure(failure, error)
                    return Effect.fail(failure)
                  }),
                )
              },
            )
          })

        // The retry schedule is created only after a first failure, because nearly every statement succeeds.
        const sendAgainWhile =
          (again: (failure: Unavailable | SqlRefused) => failure is Unavailable) =>
          <Row>(statement: Statement) =>
            Effect.catchIf(send<Row>(statement), again, () =>
              send<Row>(statement).pipe(
                Effect.retry({ schedule: retryPolicy, while: again }),
                Effect.delay(firstPause),
              ),
            )
        const attempt = sendAgainWhile(mayPass)
        const once = sendAgainWhile(isUndone)

        const rows = <Row>(statement: Statement) =>
          attempt<Row>(statement).pipe(Effect.catchTag("SqlRefused", (refused) => Effect.die(refused)))

        const { poolSize, statementTimeoutMs } = options
        return Sql.of({
          rows,
          attempt,
          once,
          poolSize,
          statementTimeoutMs,
          stats: () => ({ running }),
          writesFail: () => writeFailures.areRecent(performance.now()),
        })
      }),
    )
}

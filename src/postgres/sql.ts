import { Context, Effect, Layer, Schedule } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { inStatementSpan, textOf } from "../telemetry/statement-span.ts"
import { type Client, connect, databaseOf, openServer, type SqlOptions } from "./client.ts"
import { type Connection, Connections } from "./connections.ts"
import { watchPrimary } from "./failover/primary-watch.ts"
import { CurrentWrite, type Fence, FenceRefused, fenced, fenceStates } from "./fence.ts"
import { makeWrite, type Write } from "./guarded-write.ts"
import { mayWrite } from "./may-write.ts"
import { CurrentRequestTime, waitedTooLong } from "./request-time.ts"
import {
  isBroken,
  isOutcomeUnknown,
  isReadOnly,
  isUndone,
  mayPass,
  noWrites,
  SqlRefused,
  toFailure,
  unreached,
} from "./sql-failures.ts"
import { makeStatementMetrics } from "./statement-metrics.ts"
import { StatementQueue } from "./statement-queue.ts"
import { watchStatements } from "./statement-watchdog.ts"
import { WriteFailures } from "./write-failures.ts"

export type Statement = (client: Client) => ReturnType<Client>

/**
 * Removes the gap at the start of a result. If a statement fails after its first rows, the client (postgres 3.4.9)
 * does not reset its row counter. The rows of the next statement on the same connection then start at a higher index,
 * and index 0 is empty.
 */
const withoutGap = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  rows.length === 0 || 0 in rows ? rows : rows.filter(() => true)

/** The connections to a read-only server are replaced at most once in this time. */
const readOnlyPauseMs = 2000
/** Returns undefined for an error that is a mistake in the program. */
const failureOf = (error: unknown): Unavailable | SqlRefused | undefined => {
  try {
    return toFailure(error)
  } catch {
    return undefined
  }
}

const outcomeOf = (failure: Unavailable | SqlRefused | undefined) => {
  if (failure === undefined) return "defect"
  return failure._tag === "Unavailable" ? "unavailable" : "rejected"
}

const noAnswer = new Unavailable({
  error: "The database did not respond in time. Retry later.",
  retryAfterSeconds: 2,
})

/**
 * Writes a block of a temporary table, which must be allocated on the disk. The table is dropped at the end of the
 * statement. A server that is a standby or read-only refuses to create it.
 *
 * A role without the privilege TEMP is refused for another reason, whether the disk is full or not. So this counts as a
 * success, and the next rejected write of a request reports the failure again.
 */
const testWrite: Statement = (q) => q`create temporary table write_test on commit drop as
                                       select repeat('x', 4000) as bytes`

/** Runs a statement. Calls `lost` if the outcome of the statement is unknown, even if it is then sent again. */
type Send = <Row>(
  statement: Statement,
  lost: () => void,
  isUrgent: boolean,
) => Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>

const ignored = (): void => {}

/** Builds a statement and runs it. If the fiber runs a write that must be fenced, the statement gets its fence. */
const inCurrentWrite =
  (send: Send) =>
  <Row>(
    build: (fence: Fence | undefined) => Statement,
    isUrgent = false,
  ): Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused> =>
    Effect.flatMapEager(CurrentWrite, (write) => {
      if (write === undefined) return send<Row>(build(undefined), ignored, isUrgent)
      const { fence, lost } = write
      if (fence === undefined) return send<Row>(build(undefined), lost, isUrgent)
      return Effect.catchIf(
        send<Row>(build(fence), lost, isUrgent),
        (failure): failure is SqlRefused =>
          failure instanceof SqlRefused && fenceStates.has(failure.sqlstate),
        ({ detail }) =>
          Effect.die(
            new FenceRefused({ silent: detail === "" ? [] : (JSON.parse(detail) as Array<string>) }),
          ),
      )
    })

const firstPause = "20 millis"
const retryPolicy = Schedule.max([Schedule.exponential("40 millis"), Schedule.recurs(3)])

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
     * Does the same as `rows` for lookups and health checks. They run before all waiting statements, and do not need
     * one of the connections of the pool.
     */
    urgent<Row>(statement: Statement): Effect.Effect<ReadonlyArray<Row>, Unavailable>
    /**
     * Does the same as `rows`, but a statement that Postgres rejects fails with SqlRefused, which the caller handles.
     */
    attempt<Row>(statement: Statement): Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>
    /**
     * Runs a write that must not run twice. It is retried only if the database never received it or has rolled it
     * back. If the connection breaks, it fails with Unavailable, and it is unknown whether the write was committed.
     */
    once<Row>(statement: Statement): Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>
    /**
     * The write that changes what a request asks for. It stores its rows and `keep` with the Idempotency-Key of the
     * request, in the same statement. `rows`, `attempt` and `once` have the rules of the functions with these names.
     */
    readonly write: {
      readonly rows: Write<Unavailable>
      readonly attempt: Write<Unavailable | SqlRefused>
      readonly once: Write<Unavailable | SqlRefused>
    }
    /** The number of statements that can run concurrently. */
    readonly poolSize: number
    readonly statementTimeoutMs: number
    stats(): { readonly running: number; readonly waiting: number }
    /** Whether Postgres rejects writes at the moment. */
    writesFail(): boolean
    /**
     * Changes when another server has become the primary. It may lack writes that the former one had acknowledged, so
     * what was remembered before is not valid any more.
     */
    generation(): number
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
        const metrics = makeStatementMetrics(yield* Metrics)
        // If the database host disappears, its connections are not closed. The client would wait and send more
        // statements to them. So all connections are replaced.
        const replace = () => {
          fork(Effect.logWarning("postgres connections do not respond and are replaced"))
          connections.end().catch(() => {})
          connections = open()
        }
        const database = databaseOf(options.connection)
        const primary = yield* watchPrimary(database, openServer)
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            database?.onMove(() => {
              connections = open()
            }),
          ),
          (stop) => Effect.sync(() => stop?.()),
        )
        // A connection to a standby stays one although the address now leads to the primary, for example behind a proxy.
        let replacedAt = Number.NEGATIVE_INFINITY
        const replaceReadOnly = () => {
          if (performance.now() - replacedAt < readOnlyPauseMs) return
          replacedAt = performance.now()
          connections.end().catch(() => {})
          connections = open()
        }
        const deadlineMs = options.statementTimeoutMs + 2000
        const statements = yield* Effect.acquireRelease(
          Effect.sync(() => watchStatements({ deadlineMs, onSilence: replace })),
          ({ stop }) => Effect.sync(stop),
        )
        const queue = yield* Effect.acquireRelease(
          Effect.sync(() => new StatementQueue({ connections: () => connections, deadlineMs })),
          (one) => Effect.sync(() => one.stop()),
        )

        const send = <Row>(statement: Statement, lost: () => void, isUrgent: boolean) =>
          inStatementSpan((fiber, span) =>
            Effect.callback<ReadonlyArray<Row>, Unavailable | SqlRefused>((resume) => {
              const since = performance.now()
              const time = fiber.getRef(CurrentRequestTime)
              const giveUp = () => {
                lost()
                resume(Effect.fail(noAnswer))
              }
              const start = (connection: Connection) => {
                const { client } = connection
                const query = statement(client)
                span?.attribute("db.query.text", textOf(query))
                if (time !== undefined && !time.hasWritten) time.hasWritten = mayWrite(query)
                const one = { since: performance.now(), query, giveUp }
                metrics.started(one.since - since)
                const answered = (outcome: Parameters<typeof metrics.ended>[0]) => {
                  const now = performance.now()
                  running--
                  metrics.ended(outcome, now - one.since)
                  connection.answered(now)
                  statements.answered(one)
                  queue.startNext()
                }
                running++
                connection.begun(performance.now())
                statements.begun(one)
                query.then(
                  (rows) => {
                    answered("answered")
                    resume(Effect.succeed(withoutGap(rows as unknown as ReadonlyArray<Row>)))
                  },
                  (error) => {
                    const failure = failureOf(error)
                    if (isOutcomeUnknown(error)) lost()
                    if (failure === unreached) connection.refused(performance.now())
                    else if (isBroken(error)) connection.renew(client)
                    else if (isReadOnly(error)) replaceReadOnly()
                    answered(outcomeOf(failure))
                    if (failure?._tag === "Unavailable") primary.suspect()
                    if (failure === undefined) return resume(Effect.die(error))
                    if (failure === noWrites) noteWriteFailure(error as Error)
                    resume(Effect.fail(failure))
                  },
                )
              }
              const waiting = {
                since,
                isUrgent,
                time,
                giveUp,
                start: (connection: Connection) => {
                  try {
                    start(connection)
                  } catch (error) {
                    resume(Effect.die(error))
                  }
                },
                discard: () => resume(Effect.fail(waitedTooLong)),
              }
              queue.add(waiting)
              return Effect.sync(() => queue.remove(waiting))
            }),
          )

        // The retry schedule is created only after a first failure, because nearly every statement succeeds.
        const sendAgainWhile =
          (again: (failure: Unavailable | SqlRefused) => failure is Unavailable) =>
          <Row>(statement: Statement, lost: () => void, isUrgent: boolean) =>
            Effect.catchIf(send<Row>(statement, lost, isUrgent), again, () =>
              send<Row>(statement, lost, isUrgent).pipe(
                Effect.retry({ schedule: retryPolicy, while: again }),
                Effect.delay(firstPause),
              ),
            )
        const attempt = inCurrentWrite(sendAgainWhile(mayPass))
        const once = inCurrentWrite(sendAgainWhile(isUndone))

        const orDie = <Row>(rows: Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>) =>
          Effect.catchTag(rows, "SqlRefused", (refused) => Effect.die(refused))

        const writeFailures = new WriteFailures(
          Effect.catchTag(Effect.asVoid(send(testWrite, ignored, true)), "SqlRefused", () => Effect.void),
        )
        const scope = yield* Effect.scope
        const noteWriteFailure = ({ message }: Error) => {
          if (!writeFailures.isFailing) fork(Effect.forkIn(writeFailures.note(message), scope))
        }

        const attemptWrite: Write<Unavailable | SqlRefused> = makeWrite(attempt, attempt)
        const write = {
          attempt: attemptWrite,
          once: makeWrite(once, attempt),
          rows: (...parameters: Parameters<typeof attemptWrite>) =>
            attemptWrite(...parameters).pipe(Effect.catchTag("SqlRefused", (refused) => Effect.die(refused))),
        } as Sql["Service"]["write"]

        metrics.register({
          running: () => running,
          waiting: () => queue.size,
          oldestWaitMs: () => queue.oldestWaitMs(performance.now()),
          writesFail: () => writeFailures.isFailing,
        })

        const { poolSize, statementTimeoutMs } = options
        return Sql.of({
          rows: (statement) => orDie(attempt(fenced(statement))),
          urgent: (statement) => orDie(attempt(fenced(statement), true)),
          attempt: (statement) => attempt(fenced(statement)),
          once: (statement) => once(fenced(statement)),
          write,
          poolSize,
          statementTimeoutMs,
          stats: () => ({ running, waiting: queue.size }),
          generation: () => database?.generation ?? 0,
          writesFail: () => writeFailures.isFailing,
        })
      }),
    )
}

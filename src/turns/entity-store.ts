import { Effect, Exit, Layer } from "effect"
import {
  type CommitFailure,
  type EntityRow,
  EntityStore,
  type PlacedEvent,
  type TurnCommit,
} from "../../actors/ports.ts"
import { Unavailable } from "../../schema/errors.ts"
import type { TurnEffects } from "../../schema/turn.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { Sql } from "../postgres/sql.ts"
import type { SqlRefused } from "../postgres/sql-failures.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { batchWrites } from "./batch-writes.ts"
import type { Places } from "./event-offsets.ts"
import { Outbox } from "./outbox.ts"
import { countTurns, deadlineDelays, recordBatches } from "./turn-metrics.ts"
import { changesEntity, LostClaims, mayGoTogether, type WrittenTurn, writeTurns } from "./turn-statement.ts"

type Committed = Effect.Effect<ReadonlyArray<PlacedEvent>, CommitFailure>

const leaseSeconds = 10
const maxTurnsPerStatement = 96
const evenTurnsPerStatement = 32

/** The mail of a turn and of the turns that are committed with it. Undefined if there is none. */
const mailOf = ({ effects, joined }: TurnCommit): TurnEffects["mail"] => {
  const others = joined?.flatMap((turn) => turn.effects.mail ?? []) ?? []
  return others.length === 0 ? effects.mail : [...(effects.mail ?? []), ...others]
}

const toCommitFailure = (refused: SqlRefused): Committed => {
  switch (refused.sqlstate) {
    case "EI001":
      return Effect.fail({ _tag: "VersionConflict" })
    case "EI002":
      return Effect.fail({
        _tag: "IdsTaken",
        canonicals: JSON.parse(refused.detail) as ReadonlyArray<string>,
      })
    case "EI004":
      return Effect.fail(
        new Unavailable({
          error: "Another attempt of this request is running. Retry later.",
          retryAfterSeconds: 1,
        }),
      )
    case "EI003":
      return Effect.fail({ _tag: "LimitReached", limit: refused.detail })
    case "23505":
      return Effect.fail({ _tag: "UniqueConflict", constraint: refused.constraint })
    default:
      return Effect.die(refused)
  }
}

export const entityStore = Layer.effect(
  EntityStore,
  Effect.gen(function* () {
    const sql = yield* Sql
    const clock = yield* DatabaseClock
    const outbox = yield* Outbox
    const metrics = yield* Metrics
    const counted = countTurns(metrics)
    const delays = deadlineDelays(metrics)

    const load = (kind: string, id: string) =>
      sql
        .rows<EntityRow>(
          (
            q,
          ) => q`select version, state->'value' as value, state->'context' as context, state->'format' as format
                     from entity where kind = ${kind} and id = ${id}`,
        )
        .pipe(Effect.map((rows) => rows[0]))

    /** Commits the turns atomically with one statement. If the statement fails, no turn is committed. */
    const commitAll = (turns: ReadonlyArray<WrittenTurn>) => {
      const { newEvents, text } = writeTurns(turns)
      // The parameters are sent as text, because the client would encode a jsonb parameter twice. The statement can
      // be repeated safely, because each turn has an id.
      return sql
        .attempt<{ places: Places | null }>(
          (q) => q`select commit_batch(${text}::text::jsonb, ${newEvents.json}::text::jsonb) as places`,
        )
        .pipe(
          Effect.map(([row]): ReadonlyArray<Committed> => {
            const events = row?.places ? newEvents.placed(row.places) : []
            return turns.map((_, i) => Effect.succeed(events[i] ?? []))
          }),
        )
    }

    const commitAlone = (turn: WrittenTurn): Committed =>
      commitAll([turn]).pipe(
        Effect.flatMap(([committed]) => committed!),
        Effect.catchTag("SqlRefused", toCommitFailure),
      )

    /**
     * Returns a function that decides what happens to a turn whose batch failed. If the turn caused the failure, or if
     * the cause is not known, the function returns an effect that gives the result of this turn. Otherwise it returns
     * undefined, and the turn is retried in a batch without the turns that caused the failure.
     */
    const rejectedBy = (
      refused: SqlRefused,
      turns: ReadonlyArray<WrittenTurn>,
    ): ((turn: WrittenTurn) => Committed | undefined) => {
      if (refused.sqlstate === "EI001") {
        const late = JSON.parse(refused.detail) as ReadonlyArray<string>
        return (one) => (late.some((id) => changesEntity(one, id)) ? commitAlone(one) : undefined)
      }
      if (refused.sqlstate === "EI004") {
        const lost = JSON.parse(refused.detail) as ReadonlyArray<string>
        return (one) =>
          one.turn.key !== undefined && lost.includes(one.turn.key.run) ? commitAlone(one) : undefined
      }
      if (refused.sqlstate !== "EI002") return commitAlone
      const lost = new LostClaims(turns, JSON.parse(refused.hint) as ReadonlyArray<number>)
      return (turn) => {
        const canonicals = lost.of(turn)
        if (canonicals.length === 0) return undefined
        // If another turn of this batch got the id, that turn can still be rejected for another reason. So this turn is
        // retried.
        return lost.isInBatch(canonicals)
          ? commitBatched(turn)
          : Effect.fail({ _tag: "IdsTaken", canonicals })
      }
    }

    /** Commits a batch of turns. If some turns are rejected, the other turns are committed without them. */
    const commitBatch = (
      turns: ReadonlyArray<WrittenTurn>,
    ): Effect.Effect<ReadonlyArray<Committed>, Unavailable> =>
      turns.length < 2
        ? Effect.forEach(turns, (turn) => Effect.exit(commitAlone(turn)))
        : commitAll(turns).pipe(
            Effect.catchTag("SqlRefused", (refused) => {
              const rejected = turns.map(rejectedBy(refused, turns))
              const others = turns.filter((_, i) => rejected[i] === undefined)
              return Effect.map(Effect.exit(commitBatch(others)), (exit) =>
                turns.map(
                  (turn, i) =>
                    rejected[i] ??
                    (Exit.isSuccess(exit) ? exit.value[others.indexOf(turn)]! : Effect.failCause(exit.cause)),
                ),
              )
            }),
          )

    const commitBatched: (turn: WrittenTurn) => Committed = batchWrites({
      run: commitBatch,
      // The turns use few connections with large statements, because purchases wait for each other anyway: each locks
      // the channel `market`. The remaining connections are for reads.
      maxStatements: Math.ceil(sql.poolSize / 4),
      maxFull: Math.floor(sql.poolSize / 4),
      maxHeldUp: Math.floor(sql.poolSize / 4),
      maxAsks: maxTurnsPerStatement,
      evenAsks: evenTurnsPerStatement,
      onStatement: recordBatches(metrics, "turns"),
      fits: mayGoTogether,
    })

    const commit = (turn: TurnCommit): Committed => {
      const mail = mailOf(turn)
      return counted(
        turn,
        mail === undefined
          ? commitBatched({ turn, mail: [] })
          : Effect.flatMapEager(outbox.seal(mail), (sealed) => commitBatched({ turn, mail: sealed })),
      )
    }

    const takeDue = (limit: number) =>
      Effect.tap(
        sql.rows<{ kind: string; id: string; late: number }>(
          (q) => q`update entity e set leased_until = now() + make_interval(secs => ${leaseSeconds})
                     from (select kind, id, extract(epoch from now() - due_at)::float8 as late from entity
                            where due_at <= now() and (leased_until is null or leased_until < now())
                            order by due_at limit ${limit} for update skip locked) d
                    where e.kind = d.kind and e.id = d.id returning e.kind, e.id, d.late`,
        ),
        (due) =>
          Effect.sync(() => {
            for (const { late } of due) delays.observe(late)
          }),
      )

    return EntityStore.of({
      load,
      commit,
      takeDue,
      now: () => clock.now(),
      generation: () => sql.generation(),
      statementMs: sql.statementTimeoutMs,
    })
  }),
)

import { Effect, Layer } from "effect"
import { type CommitFailure, type EntityRow, EntityStore, type TurnCommit } from "../../actors/ports.ts"
import { DatabaseClock } from "./database-clock.ts"
import { Outbox } from "./outbox.ts"
import { EventsToPlace, type Places } from "./placed-events.ts"
import { Sql, type SqlRefused } from "./sql.ts"

const leaseSeconds = 10

const toCommitFailure = (refused: SqlRefused): Effect.Effect<never, CommitFailure> => {
  switch (refused.sqlstate) {
    case "EI001":
      return Effect.fail({ _tag: "VersionConflict" })
    case "EI002":
      return Effect.fail({
        _tag: "IdsTaken",
        canonicals: JSON.parse(refused.detail) as ReadonlyArray<string>,
      })
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

    const load = (kind: string, id: string) =>
      sql
        .rows<EntityRow>(
          (q) => q`select version, state->'value' as value, state->'context' as context
                     from entity where kind = ${kind} and id = ${id}`,
        )
        .pipe(Effect.map((rows) => rows[0]))

    const commit = Effect.fnUntraced(function* ({ context, effects, value, ...turn }: TurnCommit) {
      const { events, mail, ...rest } = effects
      const said = new EventsToPlace(events ?? [])
      const turnText = JSON.stringify({
        ...turn,
        state: { value, context },
        ...rest,
        ...(mail === undefined ? {} : { mail: yield* outbox.seal(mail) }),
      })
      const parameter = events === undefined ? turnText : `${turnText.slice(0, -1)},"events":${said.json}}`
      // Sent as text: the client would encode a jsonb parameter a second time. Safe to repeat, by the turn's id.
      const [row] = yield* sql
        .attempt<{ result: { places?: Places | null } }>(
          (q) => q`select commit_turn(${parameter}::text::jsonb) as result`,
        )
        .pipe(Effect.catchTag("SqlRefused", toCommitFailure))
      const places = row?.result.places
      return places ? said.placed(places) : []
    })

    const takeDue = (limit: number) =>
      sql.rows<{ kind: string; id: string }>(
        (q) => q`update entity e set leased_until = now() + make_interval(secs => ${leaseSeconds})
                   from (select kind, id from entity
                          where due_at <= now() and (leased_until is null or leased_until < now())
                          order by due_at limit ${limit} for update skip locked) d
                  where e.kind = d.kind and e.id = d.id returning e.kind, e.id`,
      )

    return EntityStore.of({ load, commit, takeDue, now: () => clock.now() })
  }),
)

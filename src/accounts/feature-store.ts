import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { DisplayFeature, Feature } from "../../schema/accounts/feature.ts"
import { NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql } from "../postgres/sql.ts"

type FeatureWritten<Row> = Written<WriteOutcome<Row, undefined>>
type RemovedFeature = Feature & { readonly holders: ReadonlyArray<string> }

/** Manages features and assigns them to individual users. */
export class Features extends Context.Service<
  Features,
  {
    ofUser(userId: string): Effect.Effect<ReadonlyArray<DisplayFeature>, Unavailable>
    readonly all: Effect.Effect<ReadonlyArray<Feature>, Unavailable>
    create(
      code: string,
      description: string,
    ): Effect.Effect<FeatureWritten<Feature>, Unprocessable | Unavailable>
    remove(id: string): Effect.Effect<FeatureWritten<RemovedFeature>, NotFound | Unavailable>
    /** Invalidates the users who had the removed feature, and returns it. */
    removed(done: WriteOutcome<RemovedFeature, undefined>): Effect.Effect<Feature, Unavailable>
    assign(
      userId: string,
      featureId: string,
    ): Effect.Effect<FeatureWritten<DisplayFeature>, NotFound | Unavailable>
    unassign(
      userId: string,
      featureId: string,
    ): Effect.Effect<FeatureWritten<DisplayFeature>, NotFound | Unavailable>
  }
>()("directory/Features") {
  static readonly layer = Layer.effect(
    Features,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const invalidatingUser = (userId: string) =>
        bus.invalidating({ [accountTopic]: [userId.toLowerCase()] })
      const findHolders = (id: string) =>
        sql
          .rows<{ user_id: string }>(
            (q) => q`select user_id::text from user_feature where feature_id = ${id}`,
          )
          .pipe(Effect.map((rows) => rows.map(({ user_id }) => user_id)))
      const orNotFound =
        (what: string) =>
        <Row, E>(write: Effect.Effect<FeatureWritten<Row>, E>) =>
          Effect.filterOrFail(
            write,
            ({ outcome }) => outcome.rows.length > 0,
            () => new NotFound({ error: what }),
          )

      return Features.of({
        ofUser: (userId) =>
          sql.rows<DisplayFeature>(
            (q) => q`select f.code, f.id from user_feature uf join feature f on f.id = uf.feature_id
                      where uf.user_id = ${userId} order by f.code`,
          ),
        all: sql.rows<Feature>((q) => q`select id, code, description, created_at from feature order by code`),
        create: (code, description) => {
          // The id shows that a statement repeats one whose response was lost.
          const id = randomUUID()
          return sql.write
            .attempt<Feature>(
              (q) => q`insert into feature (id, code, description) values (${id}, ${code}, ${description})
                       on conflict (id) do update set id = excluded.id returning id, code, description, created_at`,
            )
            .pipe(
              Effect.catchTag("SqlRefused", (refused) =>
                refused.sqlstate === "23505"
                  ? Effect.fail(
                      new Unprocessable({
                        error: "A feature with this code already exists.",
                        fields: { code: [{ code: "uniqueness", message: "already in use" }] },
                      }),
                    )
                  : Effect.die(refused),
              ),
            )
        },
        remove: (id) =>
          Effect.flatMap(findHolders(id), (known) =>
            sql.write
              .rows<RemovedFeature>(
                (q) => q`delete from feature f where f.id = ${id}
                       returning id, code, description, created_at,
                                 array(select uf.user_id::text from user_feature uf where uf.feature_id = f.id) as holders`,
              )
              .pipe(bus.invalidating({ [accountTopic]: known }), orNotFound("Feature not found.")),
          ),
        removed: ({ rows }) => {
          const { holders, ...feature } = rows[0]!
          // Some users may have got the feature after their ids were read before the statement.
          return Effect.as(bus.invalidate(accountTopic, holders), feature)
        },
        assign: (userId, featureId) =>
          sql.write
            .rows<DisplayFeature>((q) => q`select id, code from assign_feature(${userId}, ${featureId})`)
            .pipe(invalidatingUser(userId), orNotFound("User or feature not found.")),
        unassign: (userId, featureId) =>
          sql.write
            .rows<DisplayFeature>(
              (q) => q`delete from user_feature uf using feature f
                      where uf.user_id = ${userId} and uf.feature_id = ${featureId} and f.id = uf.feature_id
                     returning f.code, f.id`,
            )
            .pipe(invalidatingUser(userId), orNotFound("The user does not have this feature.")),
      })
    }),
  )
}

import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { DisplayFeature, Feature } from "../../schema/accounts/feature.ts"
import { NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { invalidating } from "../cluster/invalidate-after-unknown-outcome.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { Sql } from "../postgres/sql.ts"
import { insertIdempotent, onConflictReuse } from "../turns/insert-idempotent.ts"

/** Manages features and assigns them to individual users. */
export class Features extends Context.Service<
  Features,
  {
    ofUser(userId: string): Effect.Effect<ReadonlyArray<DisplayFeature>, Unavailable>
    readonly all: Effect.Effect<ReadonlyArray<Feature>, Unavailable>
    /**
     * Creates a feature. A call that is repeated with the same `run` returns the feature that the first call created.
     */
    create(
      code: string,
      description: string,
      run?: string,
    ): Effect.Effect<Feature, Unprocessable | Unavailable>
    remove(id: string): Effect.Effect<Feature, NotFound | Unavailable>
    assign(userId: string, featureId: string): Effect.Effect<DisplayFeature, NotFound | Unavailable>
    unassign(userId: string, featureId: string): Effect.Effect<DisplayFeature, NotFound | Unavailable>
  }
>()("directory/Features") {
  static readonly layer = Layer.effect(
    Features,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const changed = (userIds: ReadonlyArray<string>) =>
        userIds.length === 0 ? Effect.void : bus.invalidate(accountTopic, userIds)
      const invalidatingUser = (userId: string) =>
        invalidating(changed([userId.toLowerCase()]), sql.statementTimeoutMs)
      const orNotFound = <A>(rows: ReadonlyArray<A>, what: string) =>
        rows[0] === undefined ? Effect.fail(new NotFound({ error: what })) : Effect.succeed(rows[0])

      return Features.of({
        ofUser: (userId) =>
          sql.rows<DisplayFeature>(
            (q) => q`select f.code, f.id from user_feature uf join feature f on f.id = uf.feature_id
                      where uf.user_id = ${userId} order by f.code`,
          ),
        all: sql.rows<Feature>((q) => q`select id, code, description, created_at from feature order by code`),
        create: (code, description, run = randomUUID()) =>
          insertIdempotent(run, (id) =>
            sql.attempt<Feature>(
              (q) => q`insert into feature (id, code, description) values (${id}, ${code}, ${description})
                       ${onConflictReuse(q, "feature")} returning id, code, description, created_at`,
            ),
          ).pipe(
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
          ),
        remove: Effect.fnUntraced(function* (id) {
          const rows = yield* sql.rows<Feature & { readonly holders: ReadonlyArray<string> }>(
            (q) => q`delete from feature f where f.id = ${id}
                     returning id, code, description, created_at,
                               array(select uf.user_id::text from user_feature uf where uf.feature_id = f.id) as holders`,
          )
          const { holders, ...feature } = yield* orNotFound(rows, "Feature not found.")
          yield* changed(holders)
          return feature
        }),
        assign: Effect.fnUntraced(function* (userId, featureId) {
          const rows = yield* sql
            .rows<DisplayFeature>(
              (q) => q`with had as (
                       select f.id, f.code, u.id as user_id from feature f, app_user u
                        where f.id = ${featureId} and u.id = ${userId} and u.deleted_at is null for key share of u
                     ), put as (
                       insert into user_feature (user_id, feature_id) select user_id, id from had on conflict do nothing
                     )
                     select code, id from had`,
            )
            .pipe(invalidatingUser(userId))
          return yield* orNotFound(rows, "User or feature not found.")
        }),
        unassign: Effect.fnUntraced(function* (userId, featureId) {
          const rows = yield* sql
            .rows<DisplayFeature>(
              (q) => q`delete from user_feature uf using feature f
                      where uf.user_id = ${userId} and uf.feature_id = ${featureId} and f.id = uf.feature_id
                     returning f.code, f.id`,
            )
            .pipe(invalidatingUser(userId))
          return yield* orNotFound(rows, "The user does not have this feature.")
        }),
      })
    }),
  )
}

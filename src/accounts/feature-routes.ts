import { Effect, Schema } from "effect"
import { atMostOnce, type Written } from "../../actors/operation.ts"
import { DisplayFeature, Feature, NewFeature } from "../../schema/accounts/feature.ts"
import { NotFound, Unprocessable } from "../../schema/errors.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Features } from "./feature-store.ts"
import { checkForUser } from "./permissions.ts"
import { UserList } from "./user-list-store.ts"

const ofUserAccess = { own: true, others: "adminFeatureUser:read" } as const

const firstOf = <Row, E, R>(act: Effect.Effect<Written<WriteOutcome<Row, undefined>>, E, R>) =>
  Effect.map(atMostOnce(act), ({ rows }) => rows[0]!)

const own = route({
  id: "readFeatures",
  group: "features",
  summary: "List the features of the current user",
  description:
    "A feature is a named switch that administrators assign to users. Applications show a function only to users who have its feature.",
  method: "get",
  path: "/user_features",
  auth: "JWT",
  success: Schema.Array(DisplayFeature),
  errors: [],
  handler: ({ principal }) => Features.use((features) => features.ofUser(principal.userId)),
})

const list = route({
  id: "listFeatures",
  group: "features",
  summary: "List all features",
  description: "For administrators: every feature, with the id that the other operations take.",
  method: "get",
  path: "/features",
  auth: "JWT",
  scope: "feature::read",
  success: Schema.Array(Feature),
  errors: [],
  handler: () => Features.use((features) => features.all),
})

const create = route({
  id: "createFeature",
  group: "features",
  summary: "Create a feature",
  description: "`code` is the name that applications read. A code that exists is 422 `uniqueness`.",
  method: "post",
  path: "/features",
  auth: "JWT",
  scope: "feature::write",
  limit: "write",
  body: NewFeature,
  success: Feature,
  errors: [Unprocessable],
  handler: ({ body }) =>
    Features.use((features) => firstOf(features.create(body.code, body.description ?? ""))),
})

const remove = route({
  id: "deleteFeature",
  group: "features",
  summary: "Delete a feature and remove it from all users",
  description: "The users who had the feature lose it at once.",
  method: "del",
  path: "/features/:id",
  auth: "JWT",
  scope: "feature::delete",
  limit: "write",
  params: { id: Uuid },
  success: Feature,
  errors: [NotFound],
  handler: ({ params }) =>
    Features.use((features) => Effect.flatMap(atMostOnce(features.remove(params.id)), features.removed)),
})

const ofUser = route({
  id: "readFeaturesOfUser",
  group: "features",
  summary: "List the features of a user",
  description: "Your own features need no scope; those of another user require adminFeatureUser:read.",
  method: "get",
  path: "/users/:user_id/features",
  auth: "JWT",
  access: ofUserAccess,
  params: { user_id: Uuid },
  success: Schema.Array(DisplayFeature),
  errors: [NotFound],
  handler: ({ params, principal }) =>
    checkForUser(principal, params.user_id, ofUserAccess).pipe(
      Effect.andThen(UserList.use((users) => users.check(params.user_id))),
      Effect.andThen(Features.use((features) => features.ofUser(params.user_id))),
    ),
})

const userFeature = { user_id: Uuid, feature_id: Uuid }

const assign = route({
  id: "assignFeature",
  group: "features",
  summary: "Assign a feature to a user",
  description: "Takes effect with the user's next request. Assigning it again changes nothing.",
  method: "put",
  path: "/users/:user_id/features/:feature_id",
  auth: "JWT",
  scope: "feature::write",
  limit: "write",
  params: userFeature,
  success: DisplayFeature,
  errors: [NotFound],
  handler: ({ params }) =>
    Features.use((features) => firstOf(features.assign(params.user_id, params.feature_id))),
})

const unassign = route({
  id: "unassignFeature",
  group: "features",
  summary: "Remove a feature from a user",
  description: "The user loses the feature at once. 404 if the user does not have it.",
  method: "del",
  path: "/users/:user_id/features/:feature_id",
  auth: "JWT",
  scope: "feature::delete",
  limit: "write",
  params: userFeature,
  success: DisplayFeature,
  errors: [NotFound],
  handler: ({ params }) =>
    Features.use((features) => firstOf(features.unassign(params.user_id, params.feature_id))),
})

export const features = [own, list, create, remove, ofUser, assign, unassign] as const

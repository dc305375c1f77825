import { Effect, Schema } from "effect"
import { AppConfig } from "../config/config.ts"
import { commitOfBuild, contractVersion, productVersion } from "../config/product-version.ts"
import { route } from "../http/route.ts"
import { schemaOfBuild, schemaOfDatabase } from "../postgres/schema/schema-version.ts"

const Version = Schema.Struct({
  version: Schema.String,
  commit: Schema.NullOr(Schema.String),
  contract_version: Schema.String,
  schema_version: Schema.String,
  database_schema_version: Schema.NullOr(Schema.String),
}).annotate({ identifier: "Version" })

/** While the database does not answer, the other versions are still reported, because operators then ask for them. */
const databaseVersion = schemaOfDatabase.pipe(
  Effect.timeout("2 seconds"),
  Effect.catch(() => Effect.succeed(null)),
)

const version = route({
  id: "version",
  group: "operations",
  summary:
    "Get the version of the service, its commit, and the versions of the API contract and of the database schema",
  method: "get",
  path: "/version",
  auth: "none",
  limit: "read",
  success: Version,
  errors: [],
  handler: () =>
    Effect.gen(function* () {
      const { gitCommit } = yield* AppConfig
      return {
        version: productVersion,
        commit: gitCommit ?? commitOfBuild ?? null,
        contract_version: contractVersion,
        schema_version: schemaOfBuild,
        database_schema_version: yield* databaseVersion,
      }
    }),
})

export const versionRoutes = [version] as const

import { Effect, Schema } from "effect"
import { commitOfBuild, contractVersion, productVersion } from "../config/product-version.ts"
import { AppConfig } from "../config/read-config.ts"
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
  summary: "Get the versions of the service, the API contract and the database schema",
  description:
    "Also returns the commit of the build. `database_schema_version` is null while the database does not answer.",
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

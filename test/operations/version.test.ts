import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }
const commit = "0123456789abcdef0123456789abcdef01234567"
const service = await serve({ GIT_COMMIT: commit })

it("GET /version names the release, its commit, the contract, and the schema of the release and of the database", async () => {
  const { body, status } = await service.call("GET", "/version")
  expect(status).toBe(200)
  expect(body).toEqual({
    version,
    commit,
    contract_version: "0.2.262",
    schema_version: expect.stringMatching(/^\d{4}_\w+$/),
    database_schema_version: body.schema_version,
  })
})

it("GET /version shows that a newer release has used the database", async () => {
  await service.sql`insert into migration (name, sha256) values ('9000_newer.sql', '')`
  const { body } = await service.call("GET", "/version")
  expect(body.database_schema_version).toBe("9000_newer")
  expect(body.schema_version).not.toBe("9000_newer")
})

it("/openapi.json has the version of the contract, and the release beside it", async () => {
  const { body } = await service.call("GET", "/openapi.json")
  expect(body.info).toMatchObject({ version: "0.2.262", "x-product-version": version })
})

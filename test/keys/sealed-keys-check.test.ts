import { ManagedRuntime, Redacted } from "effect"
import { beforeAll, expect, it } from "vitest"
import { mintingCommands } from "../../src/cli/minting.ts"
import { cliServices } from "../../src/cli/services.ts"
import { register } from "../accounts/person.ts"
import { createDatabase } from "../fixtures/database.ts"
import { freePort } from "../fixtures/free-port.ts"
import { startProgram, temporaryFolder } from "../fixtures/program.ts"
import { serve, testConfig } from "../fixtures/service.ts"

const secretOf = (byte: number) => Buffer.alloc(32, byte).toString("base64url")
const kept = Redacted.value(testConfig().secretKeys!)

const database = await createDatabase()
beforeAll(async () => {
  const service = await serve({}, { database })
  const { token } = await register(service)
  expect((await service.call("POST", "/pubkeys", { token })).status).toBe(200)
})

it("a service with another master secret than the one of before does not start on its database", async () => {
  const others = serve({ SECRET_KEYS: `test:${secretOf(8)}` }, { database })
  await expect(others).rejects.toThrow(/^SECRET_KEYS: cannot decrypt the keys stored in this database/)
})

it("a service that has the one of before behind a newer one starts", async () => {
  await expect(serve({ SECRET_KEYS: `newer:${secretOf(9)},${kept}` }, { database })).resolves.toBeDefined()
})

it("a service that gave up the one of before does not start, also after a newer one has sealed more", async () => {
  const newer = `newer:${secretOf(9)}`
  const both = `${newer},${kept}`
  const before = await serve()
  const { database } = before
  for (const service of [before, await serve({ SECRET_KEYS: both }, { database })]) {
    const { token } = await register(service)
    expect((await service.call("POST", "/pubkeys", { token })).status).toBe(200)
  }
  await expect(serve({ SECRET_KEYS: newer }, { database })).rejects.toThrow(/does not open with it/)
  await expect(serve({ SECRET_KEYS: both }, { database })).resolves.toBeDefined()
})

it("a command line without the secret of the service tells no address that signs mint permissions", async () => {
  const signer = async (environment: Record<string, string>) => {
    const runtime = ManagedRuntime.make(cliServices(testConfig(environment), database))
    try {
      return await runtime.runPromise(mintingCommands[0]!.run({ words: [], options: {} }))
    } finally {
      await runtime.dispose()
    }
  }
  await expect(signer({ SECRET_KEYS: `test:${secretOf(8)}` })).rejects.toThrow(/does not open with it/)
  const known = { address: expect.stringMatching(/^0x/) }
  expect(await signer({})).toEqual(known)
  expect(await signer({ SECRET_KEYS: `test:${secretOf(8)}`, MINT_KEY: "1".repeat(64) })).toEqual(known)
})

it("a release in a folder of its own, which made itself a secret, says in one line which file that is", async () => {
  if (!("socketDir" in database)) throw new Error("the tests have a database of their own")
  const dataDir = temporaryFolder()
  const { database: name, port, socketDir } = database
  const program = startProgram({
    DATA_DIR: dataDir,
    DATABASE_URL: `postgres://postgres@localhost:${port}/${name}?host=${socketDir}`,
    PORT: String(await freePort()),
  })
  await program.printed("sealed")
  expect((await program.ended).code).toBe(1)
  expect(program.output().trim()).toBe(
    `${dataDir}/secret-key: cannot decrypt the keys stored in this database; start with the secret that encrypted them`,
  )
})

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
const oldSecrets = Redacted.value(testConfig().secretKeys!)

const database = await createDatabase()
beforeAll(async () => {
  const service = await serve({}, { database })
  const { token } = await register(service)
  expect((await service.call("POST", "/pubkeys", { token })).status).toBe(200)
})

it("the service does not start if its master secret cannot decrypt the stored keys", async () => {
  const others = serve({ SECRET_KEYS: `test:${secretOf(8)}` }, { database })
  await expect(others).rejects.toThrow(/^SECRET_KEYS: cannot decrypt the keys stored in this database/)
})

it("the service starts if SECRET_KEYS lists the old master secret after a new master secret", async () => {
  await expect(
    serve({ SECRET_KEYS: `newer:${secretOf(9)},${oldSecrets}` }, { database }),
  ).resolves.toBeDefined()
})

it("the service does not start without the old master secret while some stored keys are encrypted with it", async () => {
  const newer = `newer:${secretOf(9)}`
  const both = `${newer},${oldSecrets}`
  const before = await serve()
  const { database } = before
  for (const service of [before, await serve({ SECRET_KEYS: both }, { database })]) {
    const { token } = await register(service)
    expect((await service.call("POST", "/pubkeys", { token })).status).toBe(200)
  }
  await expect(serve({ SECRET_KEYS: newer }, { database })).rejects.toThrow(/cannot decrypt the keys/)
  await expect(serve({ SECRET_KEYS: both }, { database })).resolves.toBeDefined()
})

it("the CLI command for the address of the mint signer fails with a wrong master secret, unless MINT_KEY is set", async () => {
  const signer = async (environment: Record<string, string>) => {
    const runtime = ManagedRuntime.make(cliServices(testConfig(environment), database))
    try {
      return await runtime.runPromise(mintingCommands[0]!.run({ words: [], options: {} }))
    } finally {
      await runtime.dispose()
    }
  }
  await expect(signer({ SECRET_KEYS: `test:${secretOf(8)}` })).rejects.toThrow(/cannot decrypt the keys/)
  const known = { address: expect.stringMatching(/^0x/) }
  expect(await signer({})).toEqual(known)
  expect(await signer({ SECRET_KEYS: `test:${secretOf(8)}`, MINT_KEY: "1".repeat(64) })).toEqual(known)
})

it("the program exits with a one-line error that names the secret file if the secret cannot decrypt the stored keys", async () => {
  if (!("socketDir" in database)) throw new Error("the tests have a database of their own")
  const dataDir = temporaryFolder()
  const { database: name, port, socketDir } = database
  const program = startProgram({
    DATA_DIR: dataDir,
    DATABASE_URL: `postgres://postgres@localhost:${port}/${name}?host=${socketDir}`,
    PORT: String(await freePort()),
  })
  await program.printed("cannot decrypt")
  expect((await program.ended).code).toBe(1)
  expect(program.output().trim()).toBe(
    `${dataDir}/secret-key: cannot decrypt the keys stored in this database; start with the secret that encrypted them`,
  )
})

import { startService } from "../../src/app.ts"
import { readConfig } from "../../src/config.ts"
import type { DatabaseAddress } from "../../src/store/sql.ts"

/** One more process of the service, to be killed: told its database, it tells its port. */
process.once("message", async (message) => {
  const { database, environment } = message as {
    database: DatabaseAddress
    environment: Record<string, string>
  }
  const read = readConfig(environment)
  if ("problems" in read) throw new Error(read.problems.join("\n"))
  const { port } = await startService(
    { config: read.config, database, peersPossible: true },
    { port: 0, exclusive: true },
  )
  process.send?.({ port })
})

import { writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { BenchFailure } from "../failure.ts"
import { runCommand } from "../process/command.ts"
import { makeDirectory, removeDirectory } from "../process/directory.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt, webPage } from "../stored/ids.ts"
import { userIdAt } from "../stored/people.ts"

const lines = 50_000
const owners = 1_000
const root = fileURLToPath(new URL("../../", import.meta.url))
/** No other data of the bench has ids of this length. */
const importedLength = 5

/** Imports a file into the database of a running service, and imports it again. Returns the rates. */
export async function measureImport({ database }: RunningServer): Promise<string> {
  if (database === undefined || !("socketDir" in database))
    throw new BenchFailure("the import needs an own database")
  const directory = await makeDirectory()
  try {
    const file = join(directory, "ids.csv")
    const records = JSON.stringify([webPage]).replaceAll('"', '""')
    const rows = Array.from(
      { length: lines },
      (_, n) => `${canonicalAt(n * 7919, importedLength)},${userIdAt(n % owners)},"${records}"\n`,
    )
    await writeFile(file, `emoji_id,user_id,records\n${rows.join("")}`)
    const environment = `DATA_DIR=${dirname(dirname(database.socketDir))}`
    const importFile = async (): Promise<number> => {
      const beganAt = performance.now()
      await runCommand("env", [environment, "npx", "tsx", "src/cli/main.ts", "ids", "import", file], {
        cwd: root,
      })
      return Math.round((1000 * lines) / (performance.now() - beganAt))
    }
    const [first, again] = [await importFile(), await importFile()]
    return `Imported per second, each with one record: ${first.toLocaleString("en")}. Recognised per second in a second run: ${again.toLocaleString("en")}.`
  } finally {
    await removeDirectory(directory)
  }
}

import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import type { TestService } from "../fixtures/service.ts"

/** Installs the client from the running service, as its documentation says. Returns the folder of the package. */
export const installClient = async (service: TestService, folder: string): Promise<string> => {
  // Not synchronously: the service runs in this process.
  const flags = ["--no-audit", "--no-fund", "--no-update-notifier"]
  await promisify(execFile)("npm", ["install", ...flags, `${service.url}/client.tgz`], { cwd: folder })
  return join(folder, "node_modules/emoji-id-directory-client")
}

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "./project-root.ts"

/** The build replaces this name with the commit in quotes. It is empty if the build had neither git nor GIT_COMMIT. */
declare const buildCommit: string

const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string }

/** The version of the service, from package.json. */
export const productVersion = version

/** The version of the API contract. It changes only with the contract, not with each release. */
export const contractVersion = "0.2.262"

/** The commit of the build. Undefined if it is unknown, and in programs that run from the source. */
export const commitOfBuild: string | undefined =
  typeof buildCommit === "string" && buildCommit !== "" ? buildCommit : undefined

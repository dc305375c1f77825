import { existsSync } from "node:fs"
import { join } from "node:path"

/** Whether a service has created an embedded Postgres in this directory (see `prepareHome`). */
export const hasCluster = (dataDir: string): boolean =>
  existsSync(join(dataDir, "cluster/PG_VERSION")) || existsSync(join(dataDir, "elsewhere/cluster/PG_VERSION"))

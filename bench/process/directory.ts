import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const made = new Set<string>()

/** Creates a temporary directory, for example for the data of a server. Returns its path. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "bench-"))
  made.add(directory)
  // If the bench runs as root, Postgres runs as another user, who needs access to the directory.
  await chmod(directory, 0o711)
  return directory
}

export async function removeDirectory(directory: string): Promise<void> {
  // The removal is retried, because a database that is shutting down may still change the files.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  made.delete(directory)
}

export async function removeAllDirectories(): Promise<void> {
  await Promise.allSettled([...made].map(removeDirectory))
}

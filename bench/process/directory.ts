import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const made = new Set<string>()

/** Creates a temporary directory for a server that stores data. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "bench-"))
  made.add(directory)
  // As root, Postgres runs as another user and needs access to the directory.
  await chmod(directory, 0o711)
  return directory
}

export async function removeDirectory(directory: string): Promise<void> {
  // A database that is shutting down may still remove files.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  made.delete(directory)
}

export async function removeAllDirectories(): Promise<void> {
  await Promise.allSettled([...made].map(removeDirectory))
}

import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const made = new Set<string>()

/** A directory of its own for a server that stores something. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "bench-"))
  made.add(directory)
  // Postgres runs as another user when we are root, and must be able to pass through.
  await chmod(directory, 0o711)
  return directory
}

export async function removeDirectory(directory: string): Promise<void> {
  // A database that is just ending may still remove files of its own.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  made.delete(directory)
}

export async function removeAllDirectories(): Promise<void> {
  await Promise.allSettled([...made].map(removeDirectory))
}

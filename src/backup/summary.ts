import type { BackupHeader, Manifest } from "./archive/manifest.ts"
import type { ArchiveFacts } from "./archive/write-archive.ts"

/** What the command line shows about a backup. */
export const summaryOf = (
  file: string,
  header: BackupHeader,
  manifest: Manifest,
  { bytes, sha256 }: ArchiveFacts,
) => ({
  file,
  kind: header.kind,
  bytes,
  sha256,
  has_writes_until: manifest.has_writes_until,
  release: header.release,
  postgres_major: header.postgres_major,
  needed_keys: header.needed_keys.map(({ id }) => id),
})

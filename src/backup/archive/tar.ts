/**
 * The tar format (ustar), as far as backups need it: regular files and folders with short names. So an operator can list
 * and extract a backup with `tar` if this program is not available.
 */
export const blockBytes = 512
/** The maximum size of a file: the header has eleven octal digits for it. */
export const maxFileBytes = 8 ** 11 - 1

const nameBytes = 100
const prefixBytes = 155
const prefixStart = 345
const checksumStart = 148
const checksumEnd = 156
const magic = "ustar\u000000"

export interface TarHeader {
  readonly name: string
  readonly kind: "file" | "folder"
  readonly size: number
}

/** Splits a long name at a slash, because the header has two fields for it. */
const splitName = (name: string): { readonly prefix: string; readonly rest: string } => {
  if (Buffer.byteLength(name) <= nameBytes) return { prefix: "", rest: name }
  const at = name.indexOf("/", Math.max(0, name.length - nameBytes - 1))
  const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)]
  if (at < 0 || Buffer.byteLength(prefix) > prefixBytes || Buffer.byteLength(rest) > nameBytes || rest === "")
    throw new Error(`the name ${name} is too long for a backup`)
  return { prefix, rest }
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0")

/** The sum of all bytes of a header, with spaces in place of the checksum. */
const checksumOf = (header: Buffer): number =>
  header.reduce((sum, byte, i) => sum + (i >= checksumStart && i < checksumEnd ? 0x20 : byte), 0)

export const encodeHeader = ({ kind, name, size }: TarHeader, seconds: number): Buffer => {
  if (size > maxFileBytes) throw new Error(`${name} is too large for a backup`)
  const header = Buffer.alloc(blockBytes)
  const { prefix, rest } = splitName(kind === "folder" ? `${name}/` : name)
  header.write(rest, 0)
  header.write(kind === "folder" ? "0000700" : "0000600", 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(seconds, 11), 136)
  header.write(kind === "folder" ? "5" : "0", 156)
  header.write(magic, 257)
  header.write(prefix, prefixStart)
  header.write(`${octal(checksumOf(header), 6)}\0 `, checksumStart)
  return header
}

const textAt = (header: Buffer, start: number, length: number): string => {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.subarray(0, end < 0 ? length : end).toString()
}

/** Returns undefined for a block of zeros, which ends the archive. Throws if the block is not a header. */
export const decodeHeader = (header: Buffer): TarHeader | undefined => {
  if (header.every((byte) => byte === 0)) return undefined
  const [sum, size] = [textAt(header, checksumStart, 7), textAt(header, 124, 12)]
  const type = textAt(header, 156, 1)
  const isValid =
    Number.parseInt(sum, 8) === checksumOf(header) && /^[0-7]{11}$/.test(size) && /^[05]$/.test(type)
  if (!isValid) throw new Error("an entry has no valid header")
  const prefix = textAt(header, prefixStart, prefixBytes)
  const name = `${prefix === "" ? "" : `${prefix}/`}${textAt(header, 0, nameBytes)}`
  return {
    name: name.replace(/\/$/, ""),
    kind: type === "5" ? "folder" : "file",
    size: Number.parseInt(size, 8),
  }
}

/** The number of zeros that follow a content, so that the next header begins at a block. */
export const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes

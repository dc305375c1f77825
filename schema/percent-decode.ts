const percent = 0x25
const notHex = 0xff

const hexValues = new Uint8Array(128).fill(notHex)
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16)
  hexValues[text.charCodeAt(0)] = digit
  hexValues[text.toUpperCase().charCodeAt(0)] = digit
}

const hexValue = (code: number): number => (code < 128 ? hexValues[code]! : notHex)

/** Returns the byte that is written as %XX at index `at`, or -1 if there is no valid escape. */
const escapedByte = (text: string, at: number): number => {
  if (at + 2 >= text.length || text.charCodeAt(at) !== percent) return -1
  const high = hexValue(text.charCodeAt(at + 1))
  const low = hexValue(text.charCodeAt(at + 2))
  return high === notHex || low === notHex ? -1 : (high << 4) | low
}

/**
 * Returns how many continuation bytes follow this first byte of a UTF-8 character, or -1 if the byte cannot be a first
 * byte.
 */
const continuations = (first: number): number => {
  if (first < 0x80) return 0
  if (first < 0xc2) return -1
  if (first < 0xe0) return 1
  if (first < 0xf0) return 2
  return first < 0xf5 ? 3 : -1
}

const smallestOfLength = [0, 0x80, 0x800, 0x10000]

/**
 * Decodes percent-encoding once. Returns undefined if the escapes are not well-formed UTF-8: a truncated escape, an
 * overlong form, a surrogate, or a stray byte. A plus sign stays a plus sign. This function is used instead of
 * decodeURIComponent, which throws on invalid input: exceptions are slow, and an attacker can send a lot of invalid
 * input.
 */
export const percentDecodeStrict = (text: string): string | undefined => {
  let at = text.indexOf("%")
  if (at < 0) return text
  let decoded = text.slice(0, at)
  while (at < text.length) {
    const first = escapedByte(text, at)
    if (first < 0) return undefined
    const more = continuations(first)
    if (more < 0) return undefined
    at += 3
    let codePoint = more === 0 ? first : first & (0x3f >> more)
    for (let left = more; left > 0; left--) {
      const byte = escapedByte(text, at)
      if (byte < 0 || (byte & 0xc0) !== 0x80) return undefined
      codePoint = (codePoint << 6) | (byte & 0x3f)
      at += 3
    }
    if (codePoint < smallestOfLength[more]! || codePoint > 0x10ffff) return undefined
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) return undefined
    decoded += String.fromCodePoint(codePoint)
    if (text.charCodeAt(at) === percent) continue
    const next = text.indexOf("%", at)
    const end = next < 0 ? text.length : next
    if (end > at) decoded += text.slice(at, end)
    at = end
  }
  return decoded
}

import { type EmojiIdRefused, parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { BatchLookupAnswer } from "../../../schema/directory/lookup.ts"
import { notRegisteredText } from "./answer.ts"
import type { CachedAnswer } from "./cached-answer.ts"

/**
 * The maximum number of characters of all answers in one response. The first answer is returned even if it is longer.
 */
export const maxCharacters = 4 * 1024 * 1024

const refusal = (emojiId: string, code: string, reason: string, proof?: string): string =>
  JSON.stringify({
    emoji_id: emojiId,
    status: false,
    error: { code, reason },
    stats: [],
    ...(proof !== undefined && { proof }),
  } satisfies BatchLookupAnswer)

export const refusedAnswer = (emojiId: string, { code, message }: EmojiIdRefused): string =>
  refusal(emojiId, code, message)

export const notRegisteredAnswer = (emojiId: string, proof?: string): string =>
  refusal(emojiId, "not_registered", notRegisteredText, proof)

export const tooLargeAnswer = (emojiId: string): string =>
  refusal(
    emojiId,
    "too_large",
    "The response has reached its size limit. Look up this emoji id in a separate request.",
  )

interface Ports {
  /** Returns the cached answer for a percent-encoded id in any spelling, if this process may use it now. */
  readonly findCached: (spelling: string) => CachedAnswer | undefined
  /** Called once for each id whose answer is sent. */
  readonly use: (answer: CachedAnswer) => void
}

const start = '{"result":['
const end = "]}"
const comma = 0x2c
/** A character of a text (a UTF-16 unit) has at most three bytes in UTF-8. */
const bytesPerUnit = 3

/** The answer for one id: `text`, then the cached members of `body`. */
interface Part {
  readonly text: string
  readonly body: CachedAnswer | undefined
}

/** Returns undefined if the cache has no answer for this valid id. */
const partOf = (text: string, cached: CachedAnswer | undefined): Part | undefined => {
  if (cached === undefined) {
    const id = parseEmojiId(text)
    return id._tag === "EmojiId" ? undefined : { text: refusedAnswer(text, id), body: undefined }
  }
  // A spelling of an emoji id contains no character that JSON escapes.
  return cached.isRegistered
    ? { text: `{"emoji_id":"${text}",`, body: cached }
    : { text: notRegisteredAnswer(text), body: undefined }
}

const join = (parts: ReadonlyArray<Part>, maxBytes: number): Uint8Array => {
  const response = Buffer.allocUnsafe(maxBytes)
  let at = response.write(start)
  for (const [place, { body, text }] of parts.entries()) {
    if (place > 0) response[at++] = comma
    at += response.write(text, at)
    if (body !== undefined) at = body.copyMembers(response, at)
  }
  at += response.write(end, at)
  return response.subarray(0, at)
}

/**
 * Makes the function that answers a batch of lookups from the cache. It copies the cached bytes: to make a text of each
 * answer and join the texts took three times as long. It returns undefined if an id is not cached, or if the answers
 * are so long that some may have to be left out.
 */
export const makeCachedBatch =
  ({ findCached, use }: Ports) =>
  (texts: ReadonlyArray<string>): Uint8Array | undefined => {
    const parts: Array<Part> = []
    // An id that is listed twice is looked up once.
    const found = new Map<number, CachedAnswer>()
    let bodyBytes = 0
    let units = start.length + end.length
    for (const text of texts) {
      const cached = findCached(encodeURIComponent(text))
      const part = partOf(text, cached)
      if (part === undefined) return undefined
      if (cached !== undefined) found.set(cached.place, cached)
      parts.push(part)
      units += part.text.length + 1
      bodyBytes += part.body?.bodyBytes ?? 0
      if (bodyBytes > maxCharacters) return undefined
    }
    const response = join(parts, bodyBytes + bytesPerUnit * units)
    for (const answer of found.values()) use(answer)
    return response
  }

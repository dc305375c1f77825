import type { ErrorFrame } from "../api-types.ts"

// Copies of constants of schema/live-frames.ts, which a test compares. Importing the schema would add a library to every web page.

/** The close code of a process that restarts. The client should reconnect soon. */
export const restartCode = 1012
/** The close codes of a socket that the server closed because of its token. */
export const tokenCodes: ReadonlyArray<number> = [4401, 4402, 4403]
/** Errors that do not end a subscription. */
export const temporaryErrors: ReadonlyArray<ErrorFrame["code"]> = ["unavailable", "not_connected"]

/** Whether a channel requires no login. */
export const isPublic = (channel: string): boolean => channel === "market" || channel.startsWith("emoji_id:")

export const burstFrames = 512
export const framesPerSecond = 50
export const lookupIds = 50
/** Longer than any emoji id, and short enough that the maximum number of ids fits into one frame. */
const lookupCharacters = 200
/**
 * Shortens a text that is too long for a lookup. The shortened text is still longer than any emoji id, so the server
 * rejects it like the complete text.
 */
export const truncateForLookup = (text: string): string => text.slice(0, lookupCharacters)

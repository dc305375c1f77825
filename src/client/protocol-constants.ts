import type { closeCodes, ErrorFrame, liveLimits } from "../../schema/live-frames.ts"

// Written out and held to the schema by their types: the schema itself would bring a library into every page.

/** The service is about to be back. */
export const restartCode: (typeof closeCodes)["restart"] = 1012
/** The token is the reason. */
export const tokenCodes: ReadonlyArray<number> = [
  4401 satisfies (typeof closeCodes)["unauthorized"],
  4402 satisfies (typeof closeCodes)["tokenExpired"],
  4403 satisfies (typeof closeCodes)["sessionEnded"],
]
/** Of these nothing follows for a channel. */
export const passingErrors: ReadonlyArray<ErrorFrame["code"]> = ["unavailable", "not_connected"]

/** Heard without a login. */
export const isPublic = (channel: string): boolean => channel === "market" || channel.startsWith("emoji_id:")

export const burstFrames: (typeof liveLimits)["burstFrames"] = 512
export const framesPerSecond: (typeof liveLimits)["framesPerSecond"] = 50
export const lookupIds: (typeof liveLimits)["lookupIds"] = 50
/** Of a text that is asked about. No id is as long, and as many as a frame may name fit into it whatever they are. */
const askedCharacters = 200
/** Begins as the text does, and so is refused for the same reason: all of it the server would not take for a frame. */
export const askable = (text: string): string => text.slice(0, askedCharacters)

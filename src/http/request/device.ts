import { Effect } from "effect"
import { RequestOrigin } from "./request-origin.ts"

/** The device that sent a request. Users see it in the list of their sessions. */
export interface Device {
  /** A short name of the program, for example "Firefox on Linux". */
  readonly name: string
  readonly address: string
}

const maxName = 60
const maxAddress = 64

// The order matters: a browser also names the older browsers that it is compatible with.
const browsers: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
  [/^Mozilla\//, "Browser"],
]
const systems: ReadonlyArray<readonly [RegExp, string]> = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac(?:intosh| OS X)\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
]
const find = (names: typeof browsers, text: string) => names.find(([pattern]) => pattern.test(text))?.[1]

/**
 * Shortens a User-Agent header. A browser becomes its name and system. Any other program becomes the first word of
 * the header, for example "curl/8.5.0".
 */
export const deviceName = (userAgent: string): string => {
  const browser = find(browsers, userAgent)
  const system = find(systems, userAgent)
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  const [program = ""] = userAgent
    .replaceAll(/[^\x20-\x7e]/g, " ")
    .trim()
    .split(" ", 1)
  return program.slice(0, maxName) || "Unknown"
}

/** The device that sent the current request. */
export const currentDevice: Effect.Effect<Device> = Effect.gen(function* () {
  const { address, userAgent } = yield* RequestOrigin
  return { name: deviceName(userAgent), address: address.slice(0, maxAddress) }
})

/** The device that sent a request. Users see it in the list of their sessions. */
export interface Device {
  /** A short name of the program, for example "Firefox on Linux". */
  readonly name: string
  readonly address: string
}

/** The request header that `deviceOf` reads. */
export const deviceHeader = "user-agent"
/** The members that a route needs to call `deviceOf`. */
export const deviceRow = { headers: [deviceHeader], needsAddress: true } as const

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

export const deviceOf = (request: {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
}): Device => ({
  name: deviceName(request.headers[deviceHeader] ?? ""),
  address: request.address.slice(0, maxAddress),
})

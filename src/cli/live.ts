import { WebSocket } from "ws"
import { InvalidRequest } from "../../schema/errors.ts"
import { createClient, type LiveChannel } from "../client/client.ts"
import { optionOf, type ServiceCommand } from "./command-line/command.ts"

const wholeNumber = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidRequest({
    error: `--events: expected a positive whole number, got ${JSON.stringify(text)}.`,
  })
}

const isApiKey = (token: string): boolean => token.startsWith("svc_")

export const serviceUrl = (text: string): string => {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
  throw new InvalidRequest({ error: `--url: expected an http or https URL, got ${JSON.stringify(text)}.` })
}

const refusals: Readonly<Record<string, string>> = {
  unknown_channel:
    "Unknown channel. Use market, emoji_id:ID, cart, transfers, order:ID or another channel of PROTOCOL.md.",
  login_required: "This channel belongs to a user. Pass --token with an access token or an API key.",
  not_found: "This channel does not exist, or it belongs to another user.",
  forbidden: "The token does not have the scope of this channel.",
}

const watch: ServiceCommand = {
  name: "live watch",
  words: ["channel"],
  options: ["url", "token", "events"],
  summary:
    "Print the state of a live channel and then each event, as JSON lines. --events N ends after N events. Channels of a user need --token, an access token or an API key",
  call: async (input, { baseUrl, print }) => {
    const channel = input.words[0] as LiveChannel
    const events = optionOf(input, "events")
    const limit = events === undefined ? Number.POSITIVE_INFINITY : wholeNumber(events)
    const url = serviceUrl(optionOf(input, "url") ?? baseUrl)
    const token = optionOf(input, "token")
    let stop: (() => void) | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        const client = createClient({
          baseUrl: url,
          WebSocket,
          ...(token === undefined ? {} : isApiKey(token) ? { apiKey: token } : { token }),
          onLiveStatus: (status) => {
            if (status === "waiting") console.error(`no connection to ${url}; retrying`)
            if (status === "logged_out") reject(new Error("--token: the token is not valid or has expired."))
          },
        })
        stop = () => client.live.close()
        let received = 0
        client.live.subscribe(channel, {
          state: (state) => print({ type: "state", channel, state }),
          // Several events can arrive at once, before the subscription ends.
          event: (event) => {
            if (received === limit) return
            received += 1
            print(event)
            if (received === limit) resolve()
          },
          refused: (code) => reject(new Error(refusals[code] ?? `The service refused the channel: ${code}.`)),
        })
      })
    } finally {
      stop?.()
    }
  },
}

export const liveCommands: ReadonlyArray<ServiceCommand> = [watch]

import { WebSocket } from "ws"
import { InvalidRequest } from "../../schema/errors.ts"
import { createClient, type LiveChannel } from "../client/client.ts"
import { optionOf, type ServiceCommand } from "./command.ts"

const wholeNumber = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidRequest({
    error: `--events: expected a positive whole number, got ${JSON.stringify(text)}.`,
  })
}

const isApiKey = (token: string): boolean => token.startsWith("svc_")

const watch: ServiceCommand = {
  name: "live watch",
  words: ["channel"],
  options: ["url", "token", "events"],
  summary:
    "Print the state of a live channel and then each event, as JSON lines. --events N ends after N events. Channels of a user need --token, an access token or an API key",
  call: async (input, { baseUrl, print }) => {
    const events = optionOf(input, "events")
    const limit = events === undefined ? Number.POSITIVE_INFINITY : wholeNumber(events)
    const token = optionOf(input, "token")
    const client = createClient({
      baseUrl: optionOf(input, "url") ?? baseUrl,
      WebSocket,
      ...(token === undefined ? {} : isApiKey(token) ? { apiKey: token } : { token }),
      onLiveStatus: (status) => {
        if (status === "waiting") console.error("connection lost; reconnecting")
      },
    })
    let seen = 0
    try {
      await new Promise<void>((resolve, reject) => {
        client.live.subscribe(input.words[0] as LiveChannel, {
          state: (state) => print({ type: "state", channel: input.words[0], state }),
          event: (event) => {
            print(event)
            if (++seen === limit) resolve()
          },
          refused: (code) => reject(new Error(`the service refused the channel: ${code}`)),
        })
      })
    } finally {
      client.live.close()
    }
  },
}

export const liveCommands: ReadonlyArray<ServiceCommand> = [watch]

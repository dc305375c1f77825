import type { TokenResponse } from "../../schema/accounts/session.ts"
import type { LookupResult } from "../../schema/live-frames.ts"
import type { Backoff } from "./backoff.ts"
import { type CredentialOptions, Credentials } from "./credentials.ts"
import { LiveConnection } from "./live.ts"
import type { LiveStatus } from "./live-options.ts"
import { askable } from "./protocol-constants.ts"
import { makeCall } from "./rest.ts"
import { type Exchange, lockWaitMs } from "./shared-refresh.ts"
import type { SocketConstructor } from "./socket-like.ts"

export type { EventFrame } from "../../schema/live-frames.ts"
export { ApiError } from "./api-error.ts"
export type { ChannelHandlers, LiveChannel } from "./subscriptions.ts"
export type { LiveStatus, LookupResult }

export type ClientOptions = CredentialOptions & {
  readonly baseUrl: string
  readonly fetch?: typeof fetch
  /** Required in Node 20, which has no global WebSocket: `import { WebSocket } from "ws"`. */
  readonly WebSocket?: SocketConstructor
  readonly onLiveStatus?: (status: LiveStatus) => void
  readonly backoff?: Backoff
}

/** After a lookup that failed. */
const askAgainMs = 1000
/** Where the socket has as many channels as it may. */
const listenAgainMs = 5000

/**
 * An answer that got lost on the way would else be waited for by every call to come. Before other tabs stop waiting for
 * their turn: from then on they ask with the same key, and not as somebody who uses the token again.
 */
const refreshWithinMs = lockWaitMs * 0.8

const noExchange: Exchange = () => Promise.reject(new Error("There is no refresh token"))

/** The service for programs: typed calls of every operation, and live channels that survive reconnects. */
export const createClient = (options: ClientOptions) => {
  const baseUrl = options.baseUrl.replace(/\/$/, "")
  const request = options.fetch ?? fetch.bind(globalThis)
  const anonymous = makeCall({ baseUrl, fetch: request, credentials: new Credentials({}, noExchange) })
  const credentials = new Credentials(options, async (refresh_token, idempotencyKey) => {
    const signal = AbortSignal.timeout(refreshWithinMs)
    const tokens = await anonymous("POST /auth/token/refresh", {
      body: { refresh_token },
      idempotencyKey,
      signal,
    })
    return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token }
  })
  /** In place of those of the login that is kept here; tokens that somebody else keeps are theirs to replace. */
  const goOnWith = (tokens: TokenResponse, replaced = credentials.newestRefreshToken()): void => {
    if (replaced === undefined) return
    credentials.adopt({ accessToken: tokens.access_token, refreshToken: tokens.refresh_token }, replaced)
    connection?.personChanged()
  }
  const call = makeCall({ baseUrl, fetch: request, credentials, goOnWith })

  let connection: LiveConnection | undefined
  const live = (): LiveConnection => {
    if (connection !== undefined) return connection
    const socket: SocketConstructor | undefined = options.WebSocket ?? globalThis.WebSocket
    if (socket === undefined)
      throw new Error("This runtime has no global WebSocket. Pass one in the option `WebSocket`.")
    connection = new LiveConnection({
      url: `${baseUrl.replace(/^http/, "ws")}/live`,
      socket,
      credentials,
      ...(options.onLiveStatus === undefined ? {} : { onStatus: options.onLiveStatus }),
      ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
    })
    return connection
  }

  return {
    /** Any operation by its row in the table, with the types of that row. */
    call,

    get live(): LiveConnection {
      return live()
    },

    /** Logs in. `requires2fa` names the method whose code `enterCode` must bring before anything else works. */
    logIn: async (
      login: { readonly password: string } & ({ readonly email: string } | { readonly alternate_id: string }),
    ) => {
      const tokens = await anonymous("POST /auth/token", { body: login })
      credentials.adopt({ accessToken: tokens.access_token, refreshToken: tokens.refresh_token })
      const requires2fa = tokens.requires_2fa ?? undefined
      if (requires2fa === undefined) connection?.personChanged()
      return { requires2fa }
    },

    enterCode: async (code: string) => {
      const refresh_token = credentials.newestRefreshToken() ?? ""
      goOnWith(await anonymous("POST /auth/2fa", { body: { code, refresh_token } }), refresh_token)
    },

    /** Ends the login everywhere. Here it is over at once, also when this fails and it may go on elsewhere. */
    logOut: async () => {
      const left = credentials.leave()
      try {
        await makeCall({ baseUrl, fetch: request, credentials: left })("POST /logout")
      } finally {
        if (left !== credentials) connection?.personChanged()
      }
    },

    /**
     * For a wallet with a send dialog open: tells the id's records now, and again whenever they or the owner change.
     * Returns what ends it.
     */
    watchId: (emojiId: string, tell: (found: LookupResult) => void): (() => void) => {
      const connection = live()
      let asked = 0
      const ask = (): void => {
        const question = ++asked
        // A later change has a later answer of its own, and a later state is one.
        const isWanted = () => question === asked && connection.status !== "closed"
        connection.lookup([emojiId]).then(
          ([found]) => {
            if (found !== undefined && isWanted()) tell(found)
          },
          // What was told before is known to be out of date.
          () => setTimeout(() => isWanted() && ask(), askAgainMs),
        )
      }
      let isOver = false
      let leave = (): void => {}
      const listen = (): void => {
        if (isOver || connection.status === "closed") return
        leave = connection.subscribe(`emoji_id:${askable(emojiId)}`, {
          state: (state) => {
            asked++
            tell({ ...(state as LookupResult), emoji_id: emojiId })
          },
          event: ask,
          refused: (code) => {
            // The lookup says what is wrong with an id that has no channel, and how one stands that there is no room for.
            ask()
            if (code === "too_many_subscriptions") setTimeout(listen, listenAgainMs)
          },
        })
      }
      listen()
      return () => {
        isOver = true
        asked++
        leave()
      }
    },
  }
}

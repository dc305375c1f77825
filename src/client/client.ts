import type { TokenResponse } from "../../schema/accounts/session.ts"
import type { LookupResult } from "../../schema/live-frames.ts"
import type { Backoff } from "./backoff.ts"
import { type CredentialOptions, Credentials } from "./credentials.ts"
import { LiveConnection } from "./live.ts"
import type { LiveStatus } from "./live-options.ts"
import { truncateForLookup } from "./protocol-constants.ts"
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

/** Delay before a failed lookup is repeated. */
const lookupRetryMs = 1000
/** A subscription that exceeded the limit of the socket is requested again after this delay. */
const subscribeRetryMs = 5000

/**
 * The timeout of a token refresh, so that a lost response does not block all later calls. It is shorter than the time
 * for which other tabs wait for the lock. So they learn the key of the failed request before they stop waiting, and
 * repeat the request with the same key. This does not count as token reuse.
 */
const refreshTimeoutMs = lockWaitMs * 0.8

const noExchange: Exchange = () => Promise.reject(new Error("Not logged in: there is no refresh token"))

/** Creates a client of the service, with typed calls for every operation and live channels that survive reconnects. */
export const createClient = (options: ClientOptions) => {
  const baseUrl = options.baseUrl.replace(/\/$/, "")
  const request = options.fetch ?? fetch.bind(globalThis)
  const anonymous = makeCall({ baseUrl, fetch: request, credentials: new Credentials({}, noExchange) })
  const credentials = new Credentials(options, async (refresh_token, idempotencyKey) => {
    const signal = AbortSignal.timeout(refreshTimeoutMs)
    const tokens = await anonymous("POST /auth/token/refresh", {
      body: { refresh_token },
      idempotencyKey,
      signal,
    })
    return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token }
  })
  /** Replaces the tokens of the current login. Does nothing if this client has no refresh token. */
  const replaceTokens = (tokens: TokenResponse, replaced = credentials.newestRefreshToken()): void => {
    if (replaced === undefined) return
    credentials.adopt({ accessToken: tokens.access_token, refreshToken: tokens.refresh_token }, replaced)
    connection?.userChanged()
  }
  const call = makeCall({ baseUrl, fetch: request, credentials, replaceTokens })

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
    /** Calls any operation by method and path, for example `"GET /cart"`. Input and response are typed. */
    call,

    get live(): LiveConnection {
      return live()
    },

    /** Logs in. If `requires2fa` is set, call `enterCode` with a code of that method before any other operation. */
    logIn: async (
      login: { readonly password: string } & ({ readonly email: string } | { readonly alternate_id: string }),
    ) => {
      const tokens = await anonymous("POST /auth/token", { body: login })
      credentials.adopt({ accessToken: tokens.access_token, refreshToken: tokens.refresh_token })
      const requires2fa = tokens.requires_2fa ?? undefined
      if (requires2fa === undefined) connection?.userChanged()
      return { requires2fa }
    },

    enterCode: async (code: string) => {
      const refresh_token = credentials.newestRefreshToken() ?? ""
      replaceTokens(await anonymous("POST /auth/2fa", { body: { code, refresh_token } }), refresh_token)
    },

    /** Ends all sessions of the user. This client is logged out immediately, also if the request fails. */
    logOut: async () => {
      const previous = credentials.leave()
      try {
        await makeCall({ baseUrl, fetch: request, credentials: previous })("POST /logout")
      } finally {
        if (previous !== credentials) connection?.userChanged()
      }
    },

    /**
     * Reports the records of an emoji id now, and again after each change of the records or the owner. A wallet can
     * use this while its send dialog is open. Returns a function that stops the reports.
     */
    watchId: (emojiId: string, onRecords: (found: LookupResult) => void): (() => void) => {
      const connection = live()
      let lookups = 0
      const lookUp = (): void => {
        const current = ++lookups
        // The result is ignored if a later lookup has started, a later state has been reported, or the reports were
        // stopped.
        const isWanted = () => current === lookups && connection.status !== "closed"
        connection.lookup([emojiId]).then(
          ([found]) => {
            if (found !== undefined && isWanted()) onRecords(found)
          },
          // After a failure, the lookup is repeated, because the records reported before may be out of date.
          () => setTimeout(() => isWanted() && lookUp(), lookupRetryMs),
        )
      }
      let isStopped = false
      let leave = (): void => {}
      const listen = (): void => {
        if (isStopped || connection.status === "closed") return
        leave = connection.subscribe(`emoji_id:${truncateForLookup(emojiId)}`, {
          state: (state) => {
            lookups++
            onRecords({ ...(state as LookupResult), emoji_id: emojiId })
          },
          event: lookUp,
          refused: (code) => {
            // If the id is invalid, the lookup reports the error. If the socket has too many subscriptions, the lookup
            // reports the current records.
            lookUp()
            if (code === "too_many_subscriptions") setTimeout(listen, subscribeRetryMs)
          },
        })
      }
      listen()
      return () => {
        isStopped = true
        lookups++
        leave()
      }
    },
  }
}

import { ApiError } from "./api-error.ts"
import type { LiveLookupResult, TokenResponse } from "./api-types.ts"
import type { ClientOptions, LoopOptions, ProofOptions } from "./client-options.ts"
import { CodeRequests } from "./code-requests.ts"
import { Credentials } from "./credentials.ts"
import { type Item, itemsOf, type ListName } from "./list-items.ts"
import type { LiveChannel } from "./live/channel-state.ts"
import { type ChannelUpdate, updatesOf } from "./live/channel-updates.ts"
import { LiveConnection } from "./live/connection.ts"
import type { SocketConstructor } from "./live/socket-like.ts"
import { recordsOf, watchId } from "./live/watch-id.ts"
import type { Answer, Input, OperationName } from "./operation.ts"
import { LazyVerifier } from "./proofs/lazy-verifier.ts"
import type { ClientVerifyOptions } from "./proofs/verifier.ts"
import type { Verified } from "./proofs/verify.ts"
import { makeCall } from "./rest.ts"
import { defaultRetries } from "./retry.ts"
import { type Exchange, lockWaitMs, type Tokens } from "./shared-refresh.ts"

/**
 * The timeout of a token refresh, so that a lost response does not block all later calls. It is shorter than the time
 * for which other tabs wait for the lock. So they learn the key of the failed request before they stop waiting, and
 * repeat the request with the same key. This does not count as token reuse.
 */
const refreshTimeoutMs = lockWaitMs * 0.8

const defaultTimeoutMs = 60_000

const noExchange: Exchange = () => Promise.reject(new Error("Not signed in: there is no refresh token"))

const tokensOf = ({ access_token, refresh_token }: TokenResponse): Tokens => ({
  accessToken: access_token,
  refreshToken: refresh_token,
})

/** Creates a client of the service, with typed calls for every operation and live channels that survive reconnects. */
export const createClient = (options: ClientOptions) => {
  const baseUrl = options.baseUrl.replace(/\/$/, "")
  const request = options.fetch ?? fetch.bind(globalThis)
  const { onCodeRequired, retries = defaultRetries, timeoutMs = defaultTimeoutMs } = options
  const shared = { baseUrl, fetch: request, retries, timeoutMs }
  const { call: anonymous } = makeCall({ ...shared, credentials: new Credentials({}, noExchange) })
  const { call: refresh } = makeCall({
    ...shared,
    // The next use of the refresh token repeats a failed exchange, with the same key.
    retries: 0,
    timeoutMs: Math.min(timeoutMs, refreshTimeoutMs),
    credentials: new Credentials({}, noExchange),
  })
  const codes = new CodeRequests(({ code, key: idempotencyKey, refreshToken: refresh_token }) =>
    anonymous("POST /auth/2fa", { body: { code, refresh_token }, idempotencyKey }),
  )
  const credentials = new Credentials(
    options,
    async (refresh_token, idempotencyKey) =>
      tokensOf(
        (await codes.settle(refresh_token)) ??
          (await refresh("POST /auth/token/refresh", { body: { refresh_token }, idempotencyKey })),
      ),
    () => connection?.userChanged(),
  )
  /** Replaces the tokens of the current login. Does nothing if this client has no refresh token. */
  const replaceTokens = (tokens: TokenResponse, replaced = credentials.newestRefreshToken()): void => {
    if (replaced === undefined) return
    credentials.adopt(tokensOf(tokens), replaced)
    connection?.userChanged()
  }
  const { call: callOnce, exchange } = makeCall({
    ...shared,
    credentials,
    replaceTokens,
    ...(onCodeRequired === undefined ? {} : { onCodeRequired }),
  })
  const verifier = new LazyVerifier(() => anonymous("GET /.well-known/emoji-id-directory"))
  const call = async <N extends OperationName>(name: N, ...input: Input<N>): Promise<Answer<N>> => {
    try {
      const answer = await callOnce(name, ...input)
      verifier.asked.add(name, input[0], answer)
      return answer
    } catch (error) {
      if (error instanceof ApiError) verifier.asked.add(name, input[0], error.body)
      throw error
    }
  }

  let connection: LiveConnection | undefined
  const live = (): LiveConnection => {
    if (connection !== undefined) return connection
    const socket: SocketConstructor | undefined = options.WebSocket ?? globalThis.WebSocket
    if (socket === undefined)
      throw new Error(
        "This runtime has no global WebSocket. Start Node 20 with --experimental-websocket, or pass one in the option `WebSocket`.",
      )
    connection = new LiveConnection({
      url: `${baseUrl.replace(/^http/, "ws")}/live`,
      socket,
      credentials,
      ...(options.onLiveStatus === undefined ? {} : { onStatus: options.onLiveStatus }),
      ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
    })
    return connection
  }

  const useLogin = (tokens: TokenResponse) => {
    credentials.adopt(tokensOf(tokens))
    const requires2fa = tokens.requires_2fa ?? undefined
    if (requires2fa === undefined) connection?.userChanged()
    return { requires2fa }
  }

  /** Removes the login from this client, and then ends it at the service. */
  const leave = async (end: (as: typeof call) => Promise<unknown>): Promise<void> => {
    await credentials.ready
    const previous = credentials.leave()
    try {
      await end(makeCall({ ...shared, credentials: previous }).call)
    } finally {
      if (previous !== credentials) connection?.userChanged()
    }
  }

  return {
    /** Calls any operation by method and path, for example `"GET /orders/{id}"`. Input and response are typed. */
    call,

    /**
     * Checks the proof of an answer that was requested with `proof: true`, or of an `ApiError` that says that the id is not
     * registered or has no address. Throws `ProofRefused` if the answer must not be trusted. Only the keys are read from the service, once.
     */
    verify: (answer: object, options?: ClientVerifyOptions): Promise<Verified> =>
      verifier.verify(answer, options),

    get live(): LiveConnection {
      return live()
    },

    /** Logs in. If `requires2fa` is set, call `enterCode` with a code of that method before any other operation. */
    logIn: async (
      login: { readonly password: string } & ({ readonly email: string } | { readonly alternate_id: string }),
    ) => useLogin(await anonymous("POST /auth/token", { body: login })),

    /** As `logIn`, with the response of another operation that logs in, such as `POST /auth/magic_link/consume`. */
    useLogin,

    /**
     * Verifies a two-factor code, and returns the new tokens, which this client already uses. If the response is lost,
     * call it again with the same code or a newer one.
     */
    enterCode: async (code: string): Promise<TokenResponse> => {
      await credentials.ready
      const { logins } = credentials
      const refreshToken = credentials.newestRefreshToken() ?? ""
      const tokens = await codes.enter(refreshToken, code)
      if (credentials.logins === logins) replaceTokens(tokens, refreshToken)
      return tokens
    },

    /** Renews the access token now, for example after the role of the user has changed. */
    renew: async (): Promise<void> => {
      await credentials.ready
      await credentials.renew()
    },

    /** Ends all sessions of the user. This client is logged out immediately, also if the request fails. */
    logOut: () => leave((as) => as("POST /logout")),

    /** As `logOut`, but ends only the session of this client. Other devices stay logged in. */
    logOutHere: () =>
      leave(async (as) => {
        const own = (await as("GET /account/sessions")).find(({ current }) => current)
        if (own === undefined) return
        await as("DELETE /account/sessions/{session_id}", { params: { session_id: own.id } })
      }),

    /**
     * Reports the records of an emoji id now, and again after each change of the records or the owner. A wallet can
     * use this while its send dialog is open. Returns a function that stops the reports.
     */
    watchId: (
      emojiId: string,
      onRecords: (found: LiveLookupResult) => void,
      { proof }: ProofOptions = {},
    ): (() => void) =>
      watchId(live(), emojiId, (found) => onRecords(verifier.addLive(found)), undefined, proof),

    /**
     * As `watchId`, for a `for await` loop. It ends when `signal` aborts, when `live` is closed, and after the error of
     * a text that is not an emoji id.
     */
    records: (
      emojiId: string,
      { proof, signal }: LoopOptions & ProofOptions = {},
    ): AsyncIterableIterator<LiveLookupResult> =>
      recordsOf(live(), emojiId, signal, proof, (found) => verifier.addLive(found)),

    /**
     * The current state of a live channel and its later events, for a `for await` loop. It ends when `signal` aborts or
     * `live` is closed, and throws `ChannelRefused` if the service refuses the channel.
     */
    updates: <C extends LiveChannel>(
      channel: C,
      { signal }: LoopOptions = {},
    ): AsyncIterableIterator<ChannelUpdate<C>> => updatesOf(live(), channel, signal),

    /** The items of a list, for a `for await` loop. The pages are read when they are needed. */
    items: <N extends ListName>(name: N, ...[input]: Input<N>): AsyncGenerator<Item<N>> => {
      const given = (input ?? {}) as { readonly query?: object }
      return itemsOf((after) => {
        const query = after === undefined ? given.query : { ...given.query, after }
        return exchange(name, ...([{ ...given, query }] as unknown as Input<N>))
      }) as AsyncGenerator<Item<N>>
    },
  }
}

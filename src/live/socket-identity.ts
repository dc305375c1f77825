import { Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import type { RawRequest } from "../http/endpoint.ts"
import { Guards } from "../http/guards.ts"
import type { Principal } from "../http/principal.ts"

/** The user of a token, and when the token expires. */
export interface Identity {
  readonly principal: Principal
  /** Stored to check later whether the token is still valid. */
  readonly token: string
  /** Infinity for an API key that does not expire. */
  readonly expiresAtMs: number
}

/** Returns undefined if the token is not valid for the live socket. */
export type Identify = (token: string) => Effect.Effect<Identity | undefined, Unavailable>

const apiKeyPrefix = "svc_"

/**
 * Returns the expiry of an access token, as authentication computes it: limited by the currently configured lifetime.
 */
const expiryOf = (token: string, accessSeconds: number): number => {
  try {
    const { exp, iat } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
      exp: number
      iat: number
    }
    const end = Math.min(exp, iat + accessSeconds) * 1000
    return Number.isNaN(end) ? Number.POSITIVE_INFINITY : end
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/**
 * Authenticates with the guard of the HTTP operations, so that the same tokens are valid in HTTP requests and on the
 * socket.
 */
export const makeIdentify: Effect.Effect<Identify, never, AppConfig | Guards> = Effect.gen(function* () {
  const guards = yield* Guards
  const { accessTokenSeconds } = yield* AppConfig
  return (token) => {
    const isKey = token.startsWith(apiKeyPrefix)
    const request: RawRequest = {
      id: "",
      method: "GET",
      path: "/live",
      params: [],
      query: "",
      headers: isKey ? { "x-api-key": token } : { authorization: `Bearer ${token}` },
      body: new Uint8Array(0),
      address: "",
      arrivedAt: performance.now(),
    }
    return guards.authenticate("JWT", request).pipe(
      Effect.map((principal) =>
        // A token from the authorization-code flow gives access to one emoji id, not to the channels of its owner.
        principal === null || principal.via === "oauth"
          ? undefined
          : { principal, token, expiresAtMs: principal.keyExpiresAt ?? expiryOf(token, accessTokenSeconds) },
      ),
      Effect.catchTag("Unauthorized", () => Effect.succeed(undefined)),
    )
  }
})

/** The changes of permissions that were announced during one authentication. */
interface Changes {
  readonly users: Set<string>
  allUsers: boolean
  apiKeys: boolean
}

const isAffected = ({ principal }: Identity, { allUsers, apiKeys, users }: Changes): boolean =>
  allUsers || users.has(principal.userId) || (apiKeys && principal.via === "api_key")

/**
 * Repeats an authentication if the permissions of its user changed while it ran. The user is known only afterwards, so
 * all changes during an authentication are recorded. Changes of other users do not delay it, but any change of an API
 * key repeats every authentication with an API key.
 */
export const recheckWhenChanged = (identify: Identify) => {
  const running = new Set<Changes>()
  const identifyAgain: Identify = (token) =>
    Effect.suspend(() => {
      const changes: Changes = { users: new Set(), allUsers: false, apiKeys: false }
      running.add(changes)
      return identify(token).pipe(
        Effect.ensuring(Effect.sync(() => running.delete(changes))),
        Effect.flatMap((identity) =>
          identity !== undefined && isAffected(identity, changes)
            ? identifyAgain(token)
            : Effect.succeed(identity),
        ),
      )
    })
  return {
    identify: identifyAgain,
    usersChanged: (userIds: ReadonlyArray<string> | "all"): void => {
      for (const changes of running) {
        if (userIds === "all") changes.allUsers = true
        else for (const userId of userIds) changes.users.add(userId)
      }
    },
    keysChanged: (): void => {
      for (const changes of running) changes.apiKeys = true
    },
  }
}

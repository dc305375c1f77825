import { Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/config.ts"
import type { RawRequest } from "../http/endpoint.ts"
import { Guards } from "../http/guards.ts"
import type { Principal } from "../http/principal.ts"

/** Who a token stands for, for as long as it does. */
export interface Identity {
  readonly principal: Principal
  /** Kept to ask again whether it still counts. */
  readonly token: string
  /** Infinity for a key without an end. */
  readonly expiresAtMs: number
}

/** Undefined: the token counts for nothing here. */
export type Identify = (token: string) => Effect.Effect<Identity | undefined, Unavailable>

const apiKeyPrefix = "svc_"

/** As those who check it have it: no later than the settings of now let a token live. */
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

/** The same guard that stands before the HTTP operations decides, so a token means the same in both places. */
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
    }
    return guards.authenticate("JWT", request).pipe(
      Effect.map((principal) =>
        // A token from the authorization-code flow reaches one id, not its owner's channels.
        principal === null || principal.via === "oauth"
          ? undefined
          : { principal, token, expiresAtMs: principal.keyExpiresAt ?? expiryOf(token, accessTokenSeconds) },
      ),
      Effect.catchTag("Unauthorized", () => Effect.succeed(undefined)),
    )
  }
})

interface Meanwhile {
  readonly users: Set<string>
  isEverybody: boolean
  isSomeKey: boolean
}

const isDoubtful = ({ principal }: Identity, { isEverybody, isSomeKey, users }: Meanwhile): boolean =>
  isEverybody || users.has(principal.userId) || (isSomeKey && principal.via === "api_key")

/**
 * Asks again where rights were taken away while it was asking. Whose they are is known only afterwards, so what is told
 * meanwhile is noted; what others lose keeps nobody waiting.
 */
export const recheckWhenChanged = (identify: Identify) => {
  const underWay = new Set<Meanwhile>()
  const ask: Identify = (token) =>
    Effect.suspend(() => {
      const meanwhile: Meanwhile = { users: new Set(), isEverybody: false, isSomeKey: false }
      underWay.add(meanwhile)
      return identify(token).pipe(
        Effect.ensuring(Effect.sync(() => underWay.delete(meanwhile))),
        Effect.flatMap((identity) =>
          identity !== undefined && isDoubtful(identity, meanwhile) ? ask(token) : Effect.succeed(identity),
        ),
      )
    })
  return {
    ask,
    usersChanged: (userIds: ReadonlyArray<string> | "all"): void => {
      for (const meanwhile of underWay) {
        if (userIds === "all") meanwhile.isEverybody = true
        else for (const userId of userIds) meanwhile.users.add(userId)
      }
    },
    keysChanged: (): void => {
      for (const meanwhile of underWay) meanwhile.isSomeKey = true
    },
  }
}

import { Effect, Layer } from "effect"
import { AppConfig } from "../config.ts"
import { parseApiKey } from "../services/api-key-secrets.ts"
import { Limits } from "../services/limits.ts"
import { Sessions } from "../services/sessions.ts"
import { bearerToken, makeAuthenticate } from "./authenticate.ts"
import { Guards } from "./guards.ts"
import { makeOnce } from "./once.ts"
import type { Principal } from "./principal.ts"

/** An IPv6 caller owns a whole /64: counting single addresses of it would count nothing. */
export const addressGroup = (address: string): string => {
  if (!address.includes(":")) return address
  const mapped = /^(?:0*:)*(?:0*ffff:)(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(
    address,
  )
  if (mapped?.[1] !== undefined) return mapped[1]
  if (mapped?.[2] !== undefined && mapped[3] !== undefined) {
    const [high, low] = [Number.parseInt(mapped[2], 16), Number.parseInt(mapped[3], 16)]
    return [high >> 8, high & 255, low >> 8, low & 255].join(".")
  }
  const [head = "", tail] = address.split("::")
  const groups = head === "" ? [] : head.split(":")
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length)
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...(tail ? tail.split(":") : [])]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`
}

/** Each key has a budget of its own; everything else of a user shares one. */
const callerKey = (headers: Readonly<Record<string, string>>, { userId, via }: Principal): string => {
  const text = via === "api_key" ? (bearerToken(headers) ?? headers["x-api-key"] ?? "") : ""
  return `${via}/${parseApiKey(text)?.id ?? userId}`
}

/** The guards of the running service. */
export const guards = Layer.effect(
  Guards,
  Effect.gen(function* () {
    const authenticate = yield* makeAuthenticate
    const limits = yield* Limits
    const sessions = yield* Sessions
    const { requestDeadlineSeconds } = yield* AppConfig
    const once = yield* makeOnce(2 * requestDeadlineSeconds)
    return Guards.of({
      authenticate,
      limit: (name, request, principal) =>
        limits.take(name, {
          address: addressGroup(request.address),
          ...(principal === null ? {} : { caller: callerKey(request.headers, principal) }),
        }),
      freshCode: (principal) => sessions.checkFresh(principal.sessionId),
      once,
    })
  }),
)

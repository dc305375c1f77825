import { Effect } from "effect"
import type { TwoFactorRequired, Unavailable } from "../../../schema/errors.ts"
import type { Principal } from "../../http/principal.ts"
import { Sessions } from "./sessions.ts"

/**
 * Requires a recent two-factor code, as a route with `sensitive: true` does. For routes of which only some requests are
 * sensitive.
 */
export const checkRecentCode = (
  principal: Principal,
): Effect.Effect<void, TwoFactorRequired | Unavailable, Sessions> =>
  principal.twoFactor && principal.via === "session"
    ? Sessions.use((sessions) => sessions.checkFresh(principal.sessionId))
    : Effect.void

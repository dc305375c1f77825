import { Clock, Layer } from "effect"
import type { Config } from "../config/read-config.ts"
import type { NamedKey } from "../crypto/key-ring.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import { makeDatabaseTime } from "../postgres/database-clock.ts"
import { AccountResponseCache } from "./account-response-cache.ts"
import { Accounts } from "./account-store.ts"
import { ApiKeyCallerCache } from "./api-keys/api-key-caller-store.ts"
import { ApiKeys } from "./api-keys/api-key-store.ts"
import { ApiKeyUses } from "./api-keys/api-key-use-store.ts"
import { CallerCache } from "./caller-cache.ts"
import { MagicLinks } from "./login/magic-links.ts"
import { PasswordResets } from "./login/password-resets.ts"
import { Recaptcha } from "./login/recaptcha.ts"
import { type PasswordOptions, Passwords } from "./passwords.ts"
import { SecurityLog } from "./security-log/security-log.ts"
import { BrowserCookies } from "./sessions/browser-cookies.ts"
import { BrowserSessions } from "./sessions/browser-sessions.ts"
import { OneTimeCodes } from "./sessions/one-time-codes.ts"
import { RefreshTokens } from "./sessions/refresh-tokens.ts"
import { SessionUses } from "./sessions/session-uses.ts"
import { Sessions } from "./sessions/sessions.ts"
import { Tokens } from "./sessions/tokens.ts"
import { SecondFactors } from "./two-factor/second-factors.ts"
import { Totp } from "./two-factor/totp.ts"
import { TwoFactor } from "./two-factor/two-factor.ts"
import { Users } from "./user-store.ts"

/** Services that create and verify passwords, codes and refresh tokens. They need no database. */
export const credentials = (keys: ReadonlyArray<NamedKey>, passwords?: PasswordOptions) =>
  Layer.mergeAll(OneTimeCodes.layer({ keys }), RefreshTokens.layer({ keys }), Passwords.layer(passwords))

/** Services that sign and verify tokens, find and cache users, and record security events and the use of keys. */
export const callers = (keys: ReadonlyArray<NamedKey>, config: Config) => {
  const facts = { keys, issuer: config.baseUrl, accessSeconds: config.accessTokenSeconds }
  // One node may sign a token and another node may verify it, so all nodes use the database's clock.
  const tokens = Tokens.layer(facts).pipe(Layer.provide(Layer.effect(Clock.Clock, makeDatabaseTime)))
  return Layer.mergeAll(AccountResponseCache.layer, Users.layer, SecurityLog.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(ApiKeyUses.layer, CallerCache.layer, SessionUses.layer, tokens)),
  )
}

/** Services for login, sessions, magic links, two-factor authentication, API keys and rate limits. */
export const authentication = Layer.mergeAll(PasswordResets.layer, Recaptcha.layer, TwoFactor.layer).pipe(
  Layer.provideMerge(MagicLinks.layer),
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, BrowserSessions.layer, BrowserCookies.layer)),
  Layer.provideMerge(SecondFactors.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Accounts.layer,
      ApiKeyCallerCache.layer,
      ApiKeys.layer,
      RateLimits.layer,
      Totp.layer({ issuer: "Emoji Id Directory" }),
    ),
  ),
)

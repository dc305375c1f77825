import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import type { TokenResponse } from "../../../schema/accounts/session.ts"
import type { TooManyRequests, Unauthorized, Unavailable, Unprocessable } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Outbox } from "../../turns/outbox.ts"
import { type Account, Accounts, type SessionsReplaced } from "../account-store.ts"
import { ApiKeys } from "../api-keys/api-key-store.ts"
import { passwordNotice } from "../api-keys/password-notice.ts"
import { CallerCache } from "../caller-cache.ts"
import { Passwords } from "../passwords.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { OneTimeCodes } from "../sessions/one-time-codes.ts"
import { type PlannedSession, planSession } from "../sessions/open-session.ts"
import { Sessions } from "../sessions/sessions.ts"
import { makeMagicLinkStore } from "./magic-link-store.ts"
import { invalidLink, type LinkSent, type LinkSite, MagicLinks, statusOf } from "./magic-links.ts"
import { hashNewPassword } from "./new-password.ts"
import { clearPasswordAttempts } from "./password-attempts.ts"

/** Returns the address for the link, or undefined if the account cannot reset a password. */
const resetAddress = (account: Account | undefined): string | undefined =>
  account?.active && account.email_verified && account.password_hash !== null
    ? (account.email ?? undefined)
    : undefined

type LinkStored = WriteOutcome<{ readonly stored: boolean }, LinkSent>
type ResetDone = WriteOutcome<{ readonly ended: SessionsReplaced | null }, PlannedSession>

/**
 * Mails and uses links that set a new password. The link is `{auth_url}/password_reset?token=TOKEN&…`. Opening it
 * shows a form; only the form's POST uses the link up, because mail scanners open links too.
 */
export class PasswordResets extends Context.Service<
  PasswordResets,
  {
    /**
     * Mails a link to the account with this address. An account with a confirmed address and a password gets a link
     * that sets a new password. Any other account gets the link that POST /auth/magic_link sends: an account without
     * a password logs in with it, and an unconfirmed address is confirmed with it. If there is no active account,
     * this takes the same time, but sends nothing.
     */
    send(
      email: string,
      parameters?: Readonly<Record<string, string>>,
      site?: LinkSite,
    ): Effect.Effect<Written<LinkStored>, TooManyRequests | Unavailable>
    /** Records the request in the security log if the link sets a new password. */
    sent(link: LinkStored): Effect.Effect<void>
    /** Finds the address of the link's account without using the link up. Undefined if the link is not valid. */
    inspect(token: string): Effect.Effect<{ readonly email: string } | undefined, Unavailable>
    /** Sets the password and ends all sessions of the user. An unacceptable password does not use the link up. */
    confirm(
      token: string,
      password: string,
    ): Effect.Effect<Written<ResetDone>, Unauthorized | Unprocessable | Unavailable>
    /** Opens a new session. A user with two-factor authentication must still enter a code. */
    confirmed(done: ResetDone): Effect.Effect<TokenResponse, Unavailable>
  }
>()("directory/PasswordResets") {
  static readonly layer = Layer.effect(
    PasswordResets,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const store = yield* makeMagicLinkStore
      const accounts = yield* Accounts
      const callers = yield* CallerCache
      const codes = yield* OneTimeCodes
      const keys = yield* ApiKeys
      const limits = yield* RateLimits
      const links = yield* MagicLinks
      const outbox = yield* Outbox
      const passwords = yield* Passwords
      const securityLog = yield* SecurityLog
      const sessions = yield* Sessions

      const hashes = (token: string) => codes.lookupHashes({ purpose: "password-reset" }, token)

      const send = Effect.fnUntraced(function* (
        email: string,
        parameters: Readonly<Record<string, string>> = {},
        site: LinkSite = "auth",
      ) {
        // The count is separate from that of login links, which an account with a password does not get. So if it is
        // used up, the owner has got several links that work.
        yield* limits.take("mail", { account: `reset/${email}` })
        const account = yield* accounts.find({ email })
        const to = resetAddress(account)
        if (account === undefined || to === undefined)
          return yield* links.sendTo(account, email, parameters, site)
        const token = yield* codes.makeOpaqueToken
        const base = site === "web" ? config.webUrl : config.authUrl
        const link = `${base}/password_reset?${new URLSearchParams({ token, ...parameters })}`
        return yield* store.put(
          {
            token_hash: codes.hash({ purpose: "password-reset" }, token),
            user_id: account.id,
            email: to,
            purpose: "reset",
            seconds: config.magicLinkSeconds,
          },
          yield* outbox.seal([{ to, kind: "password_reset", data: { link } }]),
          { account: { id: account.id, status: statusOf(account) }, resets: true },
        )
      })

      const confirm = Effect.fnUntraced(function* (token: string, password: string) {
        // The link is checked before the password is hashed, because hashing is expensive and anyone can send tokens.
        const found = yield* store.findReset(hashes(token))
        if (found === undefined) return yield* invalidLink()
        const { userId } = found
        const hash = yield* hashNewPassword(password).pipe(Effect.provideService(Passwords, passwords))
        const notice = yield* passwordNotice(userId, found.email, false).pipe(
          Effect.provideService(ApiKeys, keys),
        )
        const mail = yield* outbox.seal(notice)
        const written = yield* store
          .resetPassword(hashes(token), randomUUID(), hash, mail, yield* planSession)
          .pipe(callers.invalidating(userId))
        return (written.outcome.rows[0]?.ended ?? null) === null ? yield* invalidLink() : written
      })

      const confirmed = Effect.fnUntraced(function* ({ keep, rows }: ResetDone) {
        const { user, ...ended } = rows[0]!.ended!
        const userId = user.id
        yield* sessions.ended(ended)
        yield* securityLog.record({ event: "password.reset", userId, actorId: userId })
        yield* clearPasswordAttempts(userId).pipe(Effect.provideService(RateLimits, limits))
        return yield* sessions.openPlanned(user, keep, { method: "password_reset" })
      })

      return PasswordResets.of({
        send,
        sent: ({ keep: { account, resets } }) =>
          account !== null && resets
            ? securityLog.record({ event: "password.reset_requested", userId: account.id })
            : Effect.void,
        inspect: (token) => store.findReset(hashes(token)),
        confirm,
        confirmed,
      })
    }),
  )
}

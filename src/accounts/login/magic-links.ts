import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import { Publisher } from "../../../actors/ports.ts"
import type { MagicLinkStatus, TokenResponse } from "../../../schema/accounts/session.ts"
import {
  Conflict,
  fieldFault,
  type TooManyRequests,
  Unauthorized,
  type Unavailable,
  type Unprocessable,
} from "../../../schema/errors.ts"
import { Bus } from "../../cluster/bus.ts"
import { userTopic } from "../../cluster/topic-names.ts"
import { AppConfig } from "../../config/read-config.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Outbox } from "../../turns/outbox.ts"
import { type AccountName, accountKey } from "../account-name.ts"
import { type Account, Accounts } from "../account-store.ts"
import { apiKeyTopic } from "../api-keys/api-key-store.ts"
import { Passwords } from "../passwords.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { OneTimeCodes } from "../sessions/one-time-codes.ts"
import { type PlannedSession, planSession } from "../sessions/open-session.ts"
import { Sessions } from "../sessions/sessions.ts"
import { queueFull } from "./login.ts"
import { type ConsumedLink, type LinkPurpose, makeMagicLinkStore } from "./magic-link-store.ts"
import { passwordWasRight, takePasswordAttempt } from "./password-attempts.ts"

/** The site that a link opens and whose cookie it sets: `auth` is AUTH_URL, `web` is WEB_URL. */
export type LinkSite = "auth" | "web"

export interface MadeLink {
  readonly token_hash: string
  readonly link: string
  readonly seconds: number
}

/** For whom a link was requested. The account is null if there is none. */
export interface LinkSent {
  readonly account: { readonly id: string; readonly status: MagicLinkStatus } | null
  /** Whether the link sets a new password. */
  readonly resets: boolean
}
type StoredLink = Written<WriteOutcome<{ readonly stored: boolean }, LinkSent>>

/** The result of using a link. `userId` is the user of the link. */
type LinkUsed = WriteOutcome<
  { readonly done: ConsumedLink | null },
  { readonly userId: string; readonly session: PlannedSession }
>

interface InspectedLink {
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose
  readonly hasPassword: boolean
}

/**
 * Whether using the link requires more than the link: it confirms the address of an account with a password. An account
 * without a password that changed its address has only the link.
 */
export const wantsPassword = (link: { readonly hasPassword: boolean; readonly purpose: string }) =>
  link.purpose === "confirm" && link.hasPassword

/**
 * What the caller shows in addition to the link: that the caller is one of `users` (by a login, or because one of them
 * registered in this browser), or the account's password. A caller who shows neither may be the owner of an address
 * that a stranger registered. `discardsCredentials` lets such a caller use the link. Using it then removes the
 * password, sessions and keys that were set up before the address was confirmed. The caller must request this
 * explicitly, because a request that merely lacks the password must not remove it.
 */
export interface Shown {
  readonly users?: ReadonlyArray<string>
  readonly password?: string | null | undefined
  readonly discardsCredentials?: boolean
}

export const invalidLink = () => new Unauthorized({ error: "The link is invalid, expired or already used." })

export const mailKind = (purpose: LinkPurpose) => (purpose === "confirm" ? "confirm_email" : "magic_link")

const purposeFor = (account: Account | undefined): LinkPurpose | undefined => {
  if (account === undefined || !account.active || account.email === null) return undefined
  if (account.password_hash === null) return "login"
  return account.email_verified ? undefined : "confirm"
}

/**
 * Returns the status of an account. It is shown only to a caller who is logged in as this user. `Registered` means
 * that the account has a password. `Active` means that its email is confirmed and that it is not deactivated.
 */
export const statusOf = (account: Account): MagicLinkStatus => {
  const isActive = account.email_verified && account.active
  if (account.password_hash === null) return isActive ? "Active" : "Inactive"
  return isActive ? "RegisteredActive" : "RegisteredInactive"
}

/**
 * Creates, mails and uses links that prove an email address. The link is
 * `{auth_url}/magic_link?refresh_token=TOKEN&…`, or the same path of `web_url`. TOKEN is a one-time token. The
 * parameter is named `refresh_token` because the page also accepts refresh tokens. Opening the page only calls
 * `inspect` and shows a button. So a mail scanner that opens the link does not use it up. The button's POST calls
 * `consume`, and the page stores the returned refresh token in its cookie.
 */
export class MagicLinks extends Context.Service<
  MagicLinks,
  {
    /** Creates a link and the hash of its token. The caller stores the hash. `parameters` are added to the URL. */
    make(parameters?: Readonly<Record<string, string>>, site?: LinkSite): Effect.Effect<MadeLink>
    /**
     * Mails a link if the user exists and may have one. Otherwise it takes the same time, but sends nothing.
     */
    send(
      name: AccountName,
      parameters?: Readonly<Record<string, string>>,
      site?: LinkSite,
    ): Effect.Effect<StoredLink, TooManyRequests | Unavailable>
    /** Does the same as `send` for an account that the caller has read, without counting the mail. */
    sendTo(
      account: Account | undefined,
      email: string,
      parameters?: Readonly<Record<string, string>>,
      site?: LinkSite,
    ): Effect.Effect<StoredLink, Unavailable>
    /** Finds the user of the link without using it up. Returns undefined if the link is not valid. */
    inspect(token: string): Effect.Effect<InspectedLink | undefined, Unavailable>
    /** Confirms the email. A wrong or missing password does not use the link up. */
    consume(
      token: string,
      shown: Shown,
    ): Effect.Effect<Written<LinkUsed>, Unauthorized | Unprocessable | TooManyRequests | Unavailable>
    /**
     * Logs the user in. If the caller showed only the link, the email may have been removed from the account instead.
     * Then this fails with Conflict.
     */
    consumed(link: LinkUsed): Effect.Effect<TokenResponse, Conflict | Unavailable>
  }
>()("directory/MagicLinks") {
  static readonly layer = Layer.effect(
    MagicLinks,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const links = yield* makeMagicLinkStore
      const bus = yield* Bus
      const accounts = yield* Accounts
      const codes = yield* OneTimeCodes
      const outbox = yield* Outbox
      const sessions = yield* Sessions
      const limits = yield* RateLimits
      const publisher = yield* Publisher
      const passwords = yield* Passwords
      const securityLog = yield* SecurityLog

      const hashes = (token: string) => codes.lookupHashes({ purpose: "magic-link" }, token)

      const make = Effect.fnUntraced(function* (
        parameters: Readonly<Record<string, string>> = {},
        site: LinkSite = "auth",
      ) {
        const token = yield* codes.makeOpaqueToken
        return {
          token_hash: codes.hash({ purpose: "magic-link" }, token),
          link: `${site === "web" ? config.webUrl : config.authUrl}/magic_link?${new URLSearchParams({ refresh_token: token, ...parameters })}`,
          seconds: config.magicLinkSeconds,
        }
      })

      const send = Effect.fnUntraced(function* (
        name: AccountName,
        parameters?: Readonly<Record<string, string>>,
        site?: LinkSite,
      ) {
        yield* limits.take("mail", { account: accountKey(name) })
        const account = yield* accounts.find(name)
        return yield* sendTo(account, account?.email ?? ("email" in name ? name.email : ""), parameters, site)
      })

      const sendTo = Effect.fnUntraced(function* (
        account: Account | undefined,
        email: string,
        parameters?: Readonly<Record<string, string>>,
        site?: LinkSite,
      ) {
        const purpose = purposeFor(account)
        const { link, seconds, token_hash } = yield* make(parameters, site)
        const mail = yield* outbox.seal([{ to: email, kind: mailKind(purpose ?? "login"), data: { link } }])
        const userId = purpose === undefined ? null : (account?.id ?? null)
        return yield* links.put(
          { token_hash, user_id: userId, email, purpose: purpose ?? "login", seconds },
          mail,
          {
            account: account === undefined ? null : { id: account.id, status: statusOf(account) },
            resets: false,
          },
        )
      })

      const find = (token: string) => links.find(hashes(token))

      const checkPassword = Effect.fnUntraced(function* (userId: string, password: string) {
        yield* takePasswordAttempt(userId).pipe(Effect.provideService(RateLimits, limits))
        const account = yield* accounts.find({ id: userId })
        const isRight = yield* passwords
          .verify(account?.password_hash ?? undefined, password)
          .pipe(Effect.catchTag("PasswordQueueFull", (full) => Effect.fail(queueFull(full))))
        if (!isRight) {
          yield* securityLog.record({ event: "login.failed", userId, details: { method: "magic_link" } })
          return yield* fieldFault("password", "invalid", "The password is wrong.")
        }
        yield* passwordWasRight(userId).pipe(Effect.provideService(RateLimits, limits))
      })

      /**
       * Removes the user and the API keys from all caches before the statement, because using the link may have removed rights and keys of
       * the user.
       */
      const invalidating = (userId: string, keyIds: ReadonlyArray<string>) =>
        bus.invalidating({ [apiKeyTopic]: keyIds, [userTopic]: [userId] })

      const consume = Effect.fnUntraced(function* (
        token: string,
        { discardsCredentials = false, password, users = [] }: Shown,
      ) {
        const link = yield* find(token)
        if (link === undefined) return yield* invalidLink()
        const { keyIds, userId } = link
        // Without this check, a `confirm` link alone would confirm the address and remove the password of the
        // account.
        if (wantsPassword(link) && !password && !discardsCredentials && !users.includes(userId))
          return yield* fieldFault("password", "required", "Enter the password you registered with.")
        if (password) yield* checkPassword(userId, password)
        const known = password ? [...users, userId] : users
        const attempt = randomUUID()
        const written = yield* links
          .consume(hashes(token), attempt, known, { userId, session: yield* planSession })
          .pipe(invalidating(userId, keyIds))
        const done = written.outcome.rows[0]?.done ?? null
        if (done === null) return yield* invalidLink()
        if (done.needs_password) {
          return yield* fieldFault(
            "password",
            "required",
            "This account had another email address before. Enter its password to confirm the new address.",
          )
        }
        return written
      })

      const consumed = Effect.fnUntraced(function* ({ keep: { session, userId }, rows }: LinkUsed) {
        const done = rows[0]!.done!
        // An API key may have been created after `consume` read the keys and before it deleted them. That key was not
        // invalidated yet.
        if (done.api_keys.length > 0) yield* bus.invalidate(apiKeyTopic, done.api_keys)
        publisher.moved([...(done.ended?.events ?? []), ...(done.events ?? [])])
        if (done.ended !== null) yield* securityLog.record({ event: "credentials.discarded", userId })
        if (done.user === undefined) {
          return yield* new Conflict({
            error:
              "Another account had requested this email address. The request was cancelled, and you can now register the address.",
          })
        }
        return yield* sessions.openPlanned(done.user, session, { method: "magic_link" })
      })

      return MagicLinks.of({
        make,
        send,
        sendTo,
        inspect: find,
        consume,
        consumed,
      })
    }),
  )
}

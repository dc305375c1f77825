import { createHash, randomBytes } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Forbidden } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { Form } from "../../http/request/form.ts"
import { OneTimeCodes } from "./one-time-codes.ts"
import { RefreshTokens } from "./refresh-tokens.ts"

/**
 * The cookies of a browser. `registered` names the user who last registered, or last requested a confirmation mail, on
 * a page of this site. `session` is the refresh token of the login. `visit` is a token for the data that a partner
 * sent. `form` binds forms to the browser. `handed` is a refresh token from a URL, until the person accepts the login.
 * `given` is a hash of that refresh token after the person accepted the login.
 */
type CookieName = "registered" | "session" | "visit" | "form" | "handed" | "given"

export interface Browser {
  readonly sessionToken: string | undefined
  readonly visitToken: string | undefined
  readonly handedToken: string | undefined
  /**
   * Whether the login uses a refresh token from a URL. The person accepted this login, but has not proven to be its
   * user.
   */
  readonly isGiven: boolean
  /** The user who last registered, or last requested a confirmation mail, in this browser. */
  readonly registered: string | undefined
  /** Every form of a page includes this token. It proves that the form was sent from a page of this site. */
  readonly formToken: string
  /** The `Set-Cookie` values for cookies that the browser does not have yet. Every page sends them. */
  readonly fresh: ReadonlyArray<string>
}

const cookiePattern = /^[\w.-]{1,1024}$/
const formSeconds = 86_400

const digest = (token: string): string => createHash("sha256").update(token).digest("base64url")

const readCookies = (header: string): ReadonlyMap<string, string> =>
  new Map(
    header.split(";", 64).flatMap((part) => {
      const equals = part.indexOf("=")
      const value = part.slice(equals + 1).trim()
      return equals > 0 && cookiePattern.test(value) ? [[part.slice(0, equals).trim(), value] as const] : []
    }),
  )

/**
 * Reads and creates the cookies of the sites, and the tokens of their forms. A form token is a keyed hash of the
 * cookies `form` and `session`. Another site cannot create a form token, and a form token is valid only for the login
 * for which it was created.
 */
export class BrowserCookies extends Context.Service<
  BrowserCookies,
  {
    read(headers: Readonly<Record<string, string>>): Browser
    checkForm(
      browser: Browser,
      headers: Readonly<Record<string, string>>,
      form: Form,
    ): Effect.Effect<void, Forbidden>
    /**
     * Whether the page of the form was loaded before the browser logged in, or with the refresh token that precedes
     * the current one, for example before a two-factor code was verified. This happens when a button is pressed twice,
     * or when the login happened in another window.
     */
    precedesLogin(browser: Browser, headers: Readonly<Record<string, string>>, form: Form): boolean
    registered(userId: string): string
    /** Creates the cookie that records that this login uses a refresh token from a URL. */
    given(sessionToken: string, maxAgeSeconds: number): string
    cookie(name: CookieName, value: string, maxAgeSeconds: number): string
    forget(name: CookieName): string
  }
>()("directory/BrowserCookies") {
  static readonly layer = Layer.effect(
    BrowserCookies,
    Effect.gen(function* () {
      const { authUrl, webUrl } = yield* AppConfig
      const codes = yield* OneTimeCodes
      const tokens = yield* RefreshTokens
      // Over plain http, browsers reject cookies with the prefix `__Host-` or the flag `Secure`.
      const isSecure = authUrl.startsWith("https:") && webUrl.startsWith("https:")
      const nameOf = (name: CookieName) => `${isSecure ? "__Host-" : ""}svc_${name}`
      const cookie = (name: CookieName, value: string, maxAgeSeconds: number) =>
        `${nameOf(name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`

      const registeredBy = (value: string) => {
        const dot = value.indexOf(".")
        const subject = value.slice(0, dot)
        const isOurs = codes.matches(value.slice(dot + 1), { purpose: "registered-here", subject }, "")
        return isOurs ? subject : undefined
      }

      const isMadeFor = (
        sessionToken: string,
        headers: Readonly<Record<string, string>>,
        { form_token: token = "" }: Form,
      ) => {
        const subject = readCookies(headers["cookie"] ?? "").get(nameOf("form"))
        return subject !== undefined && codes.matches(token, { purpose: "form-token", subject }, sessionToken)
      }

      const predecessorOf = (sessionToken: string): string => {
        const { generation = 1, sessionId = "" } = tokens.read(sessionToken) ?? {}
        return generation > 1 ? tokens.make({ sessionId, generation: generation - 1 }) : ""
      }

      return BrowserCookies.of({
        read: (headers) => {
          const cookies = readCookies(headers["cookie"] ?? "")
          const known = cookies.get(nameOf("form"))
          const own = known ?? randomBytes(24).toString("base64url")
          const sessionToken = cookies.get(nameOf("session"))
          return {
            sessionToken,
            visitToken: cookies.get(nameOf("visit")),
            handedToken: cookies.get(nameOf("handed")),
            isGiven: cookies.get(nameOf("given")) === digest(sessionToken ?? ""),
            registered: registeredBy(cookies.get(nameOf("registered")) ?? ""),
            formToken: codes.hash({ purpose: "form-token", subject: own }, sessionToken ?? ""),
            fresh: known === undefined ? [cookie("form", own, formSeconds)] : [],
          }
        },
        checkForm: (browser, headers, form) =>
          isMadeFor(browser.sessionToken ?? "", headers, form)
            ? Effect.void
            : Effect.fail(
                new Forbidden({
                  error:
                    "This form was not sent from a page of this site, or the page is too old. Go back, reload the page and try again.",
                }),
              ),
        precedesLogin: (browser, headers, form) =>
          browser.sessionToken !== undefined &&
          (isMadeFor("", headers, form) || isMadeFor(predecessorOf(browser.sessionToken), headers, form)),
        registered: (userId) => {
          const hash = codes.hash({ purpose: "registered-here", subject: userId }, "")
          return cookie("registered", `${userId}.${hash}`, formSeconds)
        },
        given: (sessionToken, maxAgeSeconds) => cookie("given", digest(sessionToken), maxAgeSeconds),
        cookie,
        forget: (name) => cookie(name, "", 0),
      })
    }),
  )
}

import { createHash, randomBytes } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Forbidden } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/config.ts"
import type { Form } from "../../http/request/form.ts"
import { OneTimeCodes } from "./one-time-codes.ts"
import { RefreshTokens } from "./refresh-tokens.ts"

/**
 * registered: who registered from a page of ours in this browser, or asked there for the mail. session: the login of the authorization site. visit: what a partner sent along. form: what ties a form to a browser.
 * handed: a refresh token that came in an address, until the person says yes to it. given: a hash of it from then on.
 */
type CookieName = "registered" | "session" | "visit" | "form" | "handed" | "given"

export interface Browser {
  readonly sessionToken: string | undefined
  readonly visitToken: string | undefined
  readonly handedToken: string | undefined
  /** The login came in an address: the person has said yes to it, and not shown to be its user. */
  readonly isGiven: boolean
  /** The user who was last registered from here, or asked here for the mail. */
  readonly registered: string | undefined
  /** Goes into every form of a page. */
  readonly formToken: string
  /** Cookies this browser lacks; every page sets them. */
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
 * The cookies of the sites and the tokens of their forms. A form's token is a keyed hash of the browser's own cookie and
 * of its login: no other site can make one, and none outlives the login it was made for.
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
    /** The form is of a page from before this browser had its login, or its code: pressed twice, or in another window meanwhile. */
    precedesLogin(browser: Browser, headers: Readonly<Record<string, string>>, form: Form): boolean
    /** Remembers that this browser has registered the user. */
    registered(userId: string): string
    /** Remembers that this login came in an address. */
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
      // Browsers refuse the prefix and the flag over plain http.
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
                    "This form did not come from a page of ours, or the page is too old. Go back, reload it and try again.",
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

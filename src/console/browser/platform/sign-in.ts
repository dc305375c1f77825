import { ApiError } from "../../../client/api-error.ts"
import type { TokenResponse } from "../../../client/api-types.ts"
import type { View } from "../main.ts"
import { outboxHint } from "../outbox.ts"
import { actionButton, actionForm, confirmButton } from "../parts/actions.ts"
import { codeField } from "../parts/code-field.ts"
import { byId, field, fill, firstInput, h } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import { drawForgotPassword } from "./forgot-password.ts"
import { explain } from "./http.ts"
import { humanProof } from "./recaptcha.ts"
import { type Input, internal, pendingLogin, send } from "./request.ts"
import { signIn } from "./session.ts"

const emailField = (value = "") =>
  field("Email", {
    name: "email",
    type: "email",
    autocomplete: "email",
    maxlength: "320",
    required: true,
    value,
  })

const passwordField = (autocomplete: string, hint?: string) =>
  field(
    "Password",
    { name: "password", type: "password", autocomplete, maxlength: "1600", required: true },
    hint,
  )

/**
 * The second step of a sign-in: the two-factor code. Until the code is verified, the access token can be used only in
 * this step.
 */
const codeStep = (place: Element, response: TokenResponse, email: string | undefined): void => {
  const login = pendingLogin(response)
  const isSms = response.requires_2fa === "SMS"
  // This button is only for further codes, because the sign-in itself sends the first one.
  const again = actionButton(
    "Resend code",
    async () => {
      await login.call("POST /account/2fa/sms_code")
      notify("A code was sent to your phone.")
    },
    { class: "plain" },
  )
  const codeForm = actionForm(
    {
      label: "Continue",
      name: "Two-factor code",
      beside: isSms && again,
      submit: async (values) => signIn(await login.enterCode(values.text("code").trim())),
    },
    codeField(isSms ? "Code from the SMS" : "Code from your authenticator app"),
  )
  const lost = h(
    "details",
    {},
    h("summary", {}, "I lost my device"),
    actionForm(
      {
        label: "Turn off two-factor authentication",
        plain: true,
        submit: async (values) => {
          const backup_code = values.text("backup_code").trim()
          const body = { backup_code, disable_all: true, ...(email === undefined ? {} : { email }) }
          await login.call("POST /account/2fa/backup_disable", { body })
          notify("Two-factor authentication is off. Sign in again.", "good")
          dispatchEvent(new Event("hashchange"))
        },
      },
      field("Backup code", { name: "backup_code", maxlength: "64", required: true }),
    ),
  )
  fill(place, h("h2", {}, "Enter your two-factor code"), codeForm, lost)
  firstInput(codeForm).focus()
}

/** Completes the sign-in, or shows the second step in `place` if the account uses two-factor authentication. */
const go = async (place: Element, response: TokenResponse, email?: string): Promise<void> => {
  if (response.requires_2fa !== undefined) codeStep(place, response, email)
  else await signIn(response)
}

/** Returns the token from a pasted link, or the pasted text itself if it is not a link. */
const tokenOf = (pasted: string): string => /refresh_token=([^&\s]+)/.exec(pasted)?.[1] ?? pasted.trim()

const consumeLink = async (
  place: Element,
  email: string,
  ...input: Input<"POST /auth/magic_link/consume">
): Promise<void> => go(place, await send("POST /auth/magic_link/consume", ...input), email)

/**
 * The step that follows the link if the account has a password. The user enters the password, or removes it with a
 * separate button.
 */
const passwordStep = (place: Element, email: string, token: string): void => {
  const form = actionForm(
    {
      label: "Confirm email address",
      name: "Account password",
      submit: (values) => consumeLink(place, email, { body: { token, password: values.text("password") } }),
    },
    passwordField("current-password", "The password that you chose when you registered."),
  )
  fill(
    place,
    h("h2", {}, "Your password"),
    form,
    h("p", { class: "soft small" }, "Did you not register this account, or did you forget the password?"),
    confirmButton(
      "Confirm and remove the password",
      {
        question: "Remove your password?",
        consequence:
          "Your email address is confirmed. All devices are signed out and your API keys stop working.",
      },
      () => consumeLink(place, email, { body: { token, discard_credentials: true } }),
    ),
  )
  firstInput(form).focus()
}

const linkStep = (place: Element, email: string, kind: string): void => {
  const form = actionForm(
    {
      label: "Continue",
      name: "Sign-in link",
      submit: async (values) => {
        const token = decodeURIComponent(tokenOf(values.text("link")))
        try {
          await consumeLink(place, email, { body: { token } })
        } catch (error) {
          if (!(error instanceof ApiError) || error.fields["password"] === undefined) throw error
          passwordStep(place, email, token)
        }
      },
    },
    field(
      "Link from the email",
      { name: "link", maxlength: "2000", required: true },
      "Copy the link and paste it here. The link works once.",
    ),
  )
  const input = firstInput(form)
  fill(
    place,
    h("h2", {}, "Check your email"),
    h("p", {}, "If ", h("strong", {}, email), " can sign in by email, a link was sent to this address."),
    form,
    outboxHint({
      to: email,
      kind,
      take: ({ link }) => {
        input.value = link ?? ""
      },
    }),
  )
  input.focus()
}

interface Way {
  readonly label: string
  readonly make: (place: Element) => HTMLFormElement
}

const ways: Readonly<Record<string, Way>> = {
  password: {
    label: "Password",
    make: (place) =>
      actionForm(
        {
          label: "Sign in",
          name: "Sign in with a password",
          submit: async (values) => {
            const [email, password] = [values.text("email"), values.text("password")]
            const body = { email, password, ...(await humanProof("login")) }
            await go(place, await send("POST /auth/token", { body }), email)
          },
        },
        emailField(),
        passwordField("current-password"),
        h("p", {}, h("a", { href: "#/sign-in/forgot" }, "Forgot password?")),
      ),
  },
  mail: {
    label: "Email link",
    make: (place) =>
      actionForm(
        {
          label: "Send me a link",
          name: "Sign in with a link",
          submit: async (values) => {
            const email = values.text("email")
            await send("POST /auth/magic_link", {
              body: { email, redirect: "/#/sign-in/browser", ...(await humanProof("magic_link")) },
            })
            linkStep(place, email, "magic_link")
          },
        },
        h("p", { class: "soft" }, "For accounts without a password."),
        emailField(),
      ),
  },
  register: {
    label: "Register",
    make: (place) =>
      actionForm(
        {
          label: "Create account",
          name: "Register",
          submit: async (values) => {
            const [email, password] = [values.text("email"), values.text("password")]
            const login = password === "" ? { email } : { email, password }
            const body = { ...login, ...(await humanProof("register")) }
            await go(place, await send("POST /users", { body }), email)
            notify(
              "Welcome. Before you buy, confirm your email address with the link that was sent to you.",
              "good",
            )
          },
        },
        emailField(),
        field(
          "Password",
          { name: "password", type: "password", autocomplete: "new-password", maxlength: "1600" },
          "Leave empty to sign in with links sent by email.",
        ),
      ),
  },
}

/** Signs in with the session cookie of this browser, which a magic link or a sign-in page has set. */
const fromBrowser = async (place: Element): Promise<void> => go(place, await internal.browserLogin())

export const draw: View["draw"] = (root, _lifetime, [from]) => {
  const place = h("div", {})
  if (from === "forgot") {
    root.append(h("h1", {}, "Reset password"), h("div", { class: "card narrow" }, place))
    drawForgotPassword(place)
    return "Reset password"
  }
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Sign in or register" })
  const heading = h("h1", {})
  const choose = (chosen: number): void => {
    fill(heading, buttons[chosen]?.dataset["way"] === "register" ? "Register" : "Sign in")
    for (const [n, tab] of buttons.entries()) {
      tab.setAttribute("aria-selected", String(n === chosen))
      tab.tabIndex = n === chosen ? 0 : -1
    }
    fill(place, Object.values(ways)[chosen]?.make(place))
  }
  /** The URL follows the tab, so that the links of the header to another tab work. */
  const open = (chosen: number): void => {
    history.replaceState(null, "", `#/sign-in/${Object.keys(ways)[chosen]}`)
    choose(chosen)
  }
  const buttons = Object.entries(ways).map(([name, { label }], n) =>
    h("button", { type: "button", role: "tab", "data-way": name, onclick: () => open(n) }, label),
  )
  tabs.append(...buttons)
  tabs.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    if (step === 0) return
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const next = (at + step + buttons.length) % buttons.length
    buttons[next]?.focus()
    open(next)
  })
  root.append(
    heading,
    tabs,
    h("div", { class: "card narrow", role: "tabpanel", "aria-label": "Sign in" }, place),
  )
  choose(Math.max(0, Object.keys(ways).indexOf(from ?? "")))
  const hasLogin = byId("view").dataset["browserLogin"] === "yes"
  if (hasLogin && from !== "browser") {
    root.append(
      h(
        "p",
        {},
        actionButton("Continue with this browser's session", () => fromBrowser(place), { class: "plain" }),
      ),
    )
  }
  if (from === "browser") fromBrowser(place).catch((error: unknown) => notify(explain(error), "bad"))
  return "Sign in"
}

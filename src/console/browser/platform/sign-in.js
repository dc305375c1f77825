import { outboxHint } from "../outbox.js"
import { actionButton, actionForm, confirmButton } from "../parts/actions.js"
import { field, fill, h } from "../parts/dom.js"
import { notify } from "../parts/notices.js"
import { prove } from "../proof.js"
import { drawForgotPassword } from "./forgot-password.js"
import { explain, Problem, request } from "./http.js"
import { humanProof } from "./recaptcha.js"
import { signIn } from "./session.js"

const emailField = (value = "") =>
  field("Email", {
    name: "email",
    type: "email",
    autocomplete: "email",
    maxlength: "320",
    required: true,
    value,
  })

const passwordField = (autocomplete, hint) =>
  field(
    "Password",
    { name: "password", type: "password", autocomplete, maxlength: "1600", required: true },
    hint,
  )

/**
 * The second step of a sign-in: the two-factor code. Until the code is verified, the access token can be used only in
 * this step.
 */
const codeStep = (place, response, email) => {
  const isSms = response.requires_2fa === "SMS"
  // This button is only for further codes, because the sign-in itself sends the first one.
  const again = actionButton(
    "Resend code",
    async () => {
      await request("POST", "/account/2fa/sms_code", { token: response.access_token })
      notify("A code was sent to your phone.")
    },
    { class: "plain" },
  )
  const codeForm = actionForm(
    {
      label: "Continue",
      name: "Two-factor code",
      beside: isSms && again,
      submit: async ({ code }) => signIn(await prove(response.refresh_token, code.trim())),
    },
    field(isSms ? "Code from the SMS" : "Code from your authenticator app", {
      name: "code",
      inputmode: "numeric",
      autocomplete: "one-time-code",
      maxlength: "64",
      required: true,
    }),
  )
  const lost = h(
    "details",
    {},
    h("summary", {}, "I lost my device"),
    actionForm(
      {
        label: "Turn off two-factor authentication",
        plain: true,
        submit: async ({ backup_code }) => {
          await request("POST", "/account/2fa/backup_disable", {
            body: { backup_code: backup_code.trim(), email, disable_all: true },
            token: response.access_token,
          })
          notify("Two-factor authentication is off. Sign in again.", "good")
          dispatchEvent(new Event("hashchange"))
        },
      },
      field("Backup code", { name: "backup_code", maxlength: "64", required: true }),
    ),
  )
  fill(place, h("h2", {}, "Enter your two-factor code"), codeForm, lost)
  codeForm.querySelector("input").focus()
}

/**
 * Completes the sign-in, or shows the second step if the account uses two-factor authentication.
 * @param {Element} place where the second step is shown
 */
const go = async (place, response, email) => {
  if (response.requires_2fa !== undefined) codeStep(place, response, email)
  else await signIn(response)
}

/** Returns the token from a pasted link, or the pasted text itself if it is not a link. @param {string} pasted */
const tokenOf = (pasted) => /refresh_token=([^&\s]+)/.exec(pasted)?.[1] ?? pasted.trim()

/** @param {Element} place @param {string} email @param {Record<string, unknown>} body */
const consumeLink = async (place, email, body) =>
  go(place, await request("POST", "/auth/magic_link/consume", { body }), email)

/**
 * The step that follows the link if the account has a password. The user enters the password, or removes it with a
 * separate button.
 */
const passwordStep = (place, email, token) => {
  const form = actionForm(
    {
      label: "Confirm email address",
      name: "Account password",
      submit: ({ password }) => consumeLink(place, email, { token, password }),
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
      () => consumeLink(place, email, { token, discard_credentials: true }),
    ),
  )
  form.querySelector("input").focus()
}

/** @param {Element} place @param {string} email @param {string} kind */
const linkStep = (place, email, kind) => {
  const form = actionForm(
    {
      label: "Continue",
      name: "Sign-in link",
      submit: async ({ link }) => {
        const token = decodeURIComponent(tokenOf(link))
        try {
          await consumeLink(place, email, { token })
        } catch (error) {
          if (!(error instanceof Problem) || error.fields.password === undefined) throw error
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
  const input = form.querySelector("input")
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

const ways = {
  password: {
    label: "Password",
    make: (place) =>
      actionForm(
        {
          label: "Sign in",
          name: "Sign in with a password",
          submit: async ({ email, password }) =>
            go(
              place,
              await request("POST", "/auth/token", {
                body: { email, password, ...(await humanProof("login")) },
              }),
              email,
            ),
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
          submit: async ({ email }) => {
            await request("POST", "/auth/magic_link", {
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
          submit: async ({ email, password }) => {
            const body = password === "" ? { email } : { email, password }
            const response = await request("POST", "/users", {
              body: { ...body, ...(await humanProof("register")) },
            })
            await go(place, response, email)
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
const fromBrowser = async (place) => {
  await go(place, await request("POST", "/console/session", { withCookies: true }))
}

export const draw = (root, _lifetime, [from]) => {
  const place = h("div", {})
  if (from === "forgot") {
    root.append(h("h1", {}, "Reset password"), h("div", { class: "card narrow" }, place))
    drawForgotPassword(place)
    return "Reset password"
  }
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Sign-in methods" })
  const choose = (name) => {
    for (const tab of tabs.children) {
      const isChosen = tab.dataset.way === name
      tab.setAttribute("aria-selected", String(isChosen))
      tab.tabIndex = isChosen ? 0 : -1
    }
    fill(place, ways[name].make(place))
  }
  tabs.append(
    ...Object.entries(ways).map(([name, { label }]) =>
      h("button", { type: "button", role: "tab", "data-way": name, onclick: () => choose(name) }, label),
    ),
  )
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const all = [...tabs.children]
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length]
    next.focus()
    choose(next.dataset.way)
  })
  root.append(
    h("h1", {}, "Sign in"),
    tabs,
    h("div", { class: "card narrow", role: "tabpanel", "aria-label": "Sign in" }, place),
  )
  choose("password")
  const hasLogin = document.getElementById("view").dataset.browserLogin === "yes"
  if (hasLogin && from !== "browser") {
    root.append(
      h(
        "p",
        {},
        actionButton("Continue with this browser's session", () => fromBrowser(place), { class: "plain" }),
      ),
    )
  }
  if (from === "browser") fromBrowser(place).catch((error) => notify(explain(error), "bad"))
  return "Sign in"
}

import type { TokenResponse } from "../../client/api-types.ts"
import { h } from "../../web/browser/elements.ts"
import { labelled } from "./labelled.ts"

const storageKey = "docs-login"

interface Login {
  readonly name: string
  readonly token: string
}
interface DemoLogin {
  readonly email: string
  readonly password: string
}

/** The login of this tab. It is kept while the tab is open, so that all pages use it. */
const read = (): Login | undefined => {
  try {
    return (JSON.parse(sessionStorage.getItem(storageKey) ?? "null") as Login | null) ?? undefined
  } catch {
    return undefined
  }
}
let current = read()

/** The access token, or undefined if no user is logged in. */
export const accessToken = (): string | undefined => current?.token

const set = (login: Login | undefined): void => {
  current = login
  if (login === undefined) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, JSON.stringify(login))
}

const post = async (path: string, body: object): Promise<TokenResponse> => {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as TokenResponse & { readonly error?: string }
  if (!response.ok) throw new Error(answer.error)
  return answer
}

/** Shows the login of this tab, and the form that logs in. */
export const watchLogin = (place: HTMLElement): void => {
  const demo = JSON.parse(place.dataset["demo"] ?? "[]") as ReadonlyArray<DemoLogin>
  const show = (): void => {
    if (current !== undefined) {
      const leave = () => {
        set(undefined)
        show()
      }
      place.replaceChildren(
        h("span", { class: "small" }, current.name),
        h("button", { type: "button", class: "link", onclick: leave }, "Sign out"),
      )
      return
    }
    const email = h("input", {
      type: "email",
      required: true,
      autocomplete: "username",
      value: demo[0]?.email,
    })
    const password = h("input", {
      ...{ type: "password", required: true, autocomplete: "current-password", value: demo[0]?.password },
    })
    const codeInput = h("input", { inputmode: "numeric", autocomplete: "one-time-code" })
    const code = labelled("Two-factor code", codeInput)
    code.hidden = true
    const failed = h("p", { class: "bad", role: "alert" })
    /** The login that waits for its code. */
    let pending: string | undefined
    const submit = async (event: SubmitEvent): Promise<void> => {
      event.preventDefault()
      failed.textContent = ""
      try {
        const answer =
          pending === undefined
            ? await post("/auth/token", { email: email.value, password: password.value })
            : await post("/auth/2fa", {
                ...{ code: codeInput.value.trim(), refresh_token: pending },
              })
        if (answer.requires_2fa) {
          pending = answer.refresh_token
          code.hidden = false
          codeInput.focus()
          return
        }
        set({ name: email.value, token: answer.access_token })
        show()
      } catch (error) {
        failed.textContent = error instanceof Error ? error.message : String(error)
      }
    }
    const choose = (login: DemoLogin) => () => {
      email.value = login.email
      password.value = login.password
    }
    place.replaceChildren(
      h(
        "details",
        { class: "login-box" },
        h("summary", {}, "Sign in"),
        h(
          "form",
          { onsubmit: submit },
          labelled("Email", email),
          labelled("Password", password),
          code,
          h("p", {}, h("button", {}, "Sign in")),
          failed,
          ...(demo.length === 0
            ? []
            : [
                h(
                  "p",
                  { class: "small" },
                  "Demo accounts: ",
                  ...demo.map((login) =>
                    h("button", { type: "button", class: "link", onclick: choose(login) }, login.email),
                  ),
                ),
              ]),
        ),
      ),
    )
  }
  show()
}

import { element, labelled } from "./elements.js"

const storageKey = "docs-login"

/** The login of this tab. It is kept while the tab is open, so that all pages use it. @returns {{name: string, token: string} | undefined} */
const read = () => {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? "null") ?? undefined
  } catch {
    return undefined
  }
}
let current = read()

/** The access token, or undefined if nobody is logged in. */
export const accessToken = () => current?.token

const set = (login) => {
  current = login
  if (login === undefined) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, JSON.stringify(login))
}

const post = async (path, body) => {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

/** Shows the login of this tab, and the form that logs in. @param {HTMLElement} place */
export const watchLogin = (place) => {
  const demo = JSON.parse(place.dataset.demo ?? "[]")
  const show = () => {
    if (current !== undefined) {
      const leave = () => {
        set(undefined)
        show()
      }
      place.replaceChildren(
        element("span", { class: "small" }, current.name),
        element("button", { type: "button", class: "link", onclick: leave }, "Log out"),
      )
      return
    }
    const email = element("input", {
      type: "email",
      required: true,
      autocomplete: "username",
      value: demo[0]?.email,
    })
    const password = element("input", {
      ...{ type: "password", required: true, autocomplete: "current-password", value: demo[0]?.password },
    })
    const code = labelled(
      "Two-factor code",
      element("input", { inputmode: "numeric", autocomplete: "one-time-code" }),
    )
    code.hidden = true
    const failed = element("p", { class: "bad", role: "alert" })
    /** The login that waits for its code. */
    let pending
    const submit = async (event) => {
      event.preventDefault()
      failed.textContent = ""
      try {
        const answer =
          pending === undefined
            ? await post("/auth/token", { email: email.value, password: password.value })
            : await post("/auth/2fa", {
                ...{ code: code.querySelector("input").value.trim(), refresh_token: pending },
              })
        if (answer.requires_2fa) {
          pending = answer.refresh_token
          code.hidden = false
          code.querySelector("input").focus()
          return
        }
        set({ name: email.value, token: answer.access_token })
        show()
      } catch (error) {
        failed.textContent = error.message
      }
    }
    const choose = (login) => () => {
      email.value = login.email
      password.value = login.password
    }
    place.replaceChildren(
      element(
        "details",
        { class: "login-box" },
        element("summary", {}, "Log in"),
        element(
          "form",
          { onsubmit: submit },
          labelled("Email", email),
          labelled("Password", password),
          code,
          element("p", {}, element("button", {}, "Log in")),
          failed,
          ...(demo.length === 0
            ? []
            : [
                element(
                  "p",
                  { class: "small" },
                  "Demo accounts: ",
                  ...demo.map((login) =>
                    element("button", { type: "button", class: "link", onclick: choose(login) }, login.email),
                  ),
                ),
              ]),
        ),
      ),
    )
  }
  show()
}

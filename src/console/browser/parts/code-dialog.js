import { explain, Problem, request } from "../platform/http.js"
import { account, renewed, tokens } from "../platform/session.js"
import { prove } from "../proof.js"
import { openDialog } from "./dialog.js"
import { field, fill, h } from "./dom.js"

const cancelled = () => new Problem(424, { error: "Nothing was changed: no code was entered." })

const sendSms = () => request("POST", "/account/2fa/sms_code", { token: tokens.value?.access_token })

let asking

/** @returns {Promise<void>} resolves once the session is fresh, fails when the person gives up */
const ask = () =>
  new Promise((resolve, reject) => {
    const problem = h("p", { id: "code-problem", class: "bad problem", role: "alert" })
    const said = h("p", { class: "soft problem", role: "status" })
    const codeField = field("Code", {
      name: "code",
      "aria-describedby": "code-problem",
      inputmode: "numeric",
      autocomplete: "one-time-code",
      maxlength: "64",
      required: true,
    })
    const bySms = account.value?.user.two_factor_auth?.includes("SMS")
    const button = h("button", {}, "Confirm")
    const submit = async (event) => {
      event.preventDefault()
      const input = codeField.querySelector("input")
      button.disabled = true
      fill(problem)
      try {
        const before = tokens.value
        const next = await prove(before?.refresh_token ?? "", input.value.trim())
        if (before !== undefined) renewed(before, next)
        close()
        resolve()
      } catch (error) {
        fill(problem, explain(error))
        input.focus()
        input.select()
      } finally {
        button.disabled = false
      }
    }
    const sendAgain = async ({ currentTarget: pressed }) => {
      pressed.disabled = true
      fill(problem)
      try {
        await sendSms()
        fill(said, "A code is on its way to your phone.")
      } catch (error) {
        fill(problem, explain(error))
      } finally {
        pressed.disabled = false
        codeField.querySelector("input").focus()
      }
    }
    const giveUp = () => {
      close()
      reject(cancelled())
    }
    const close = openDialog(
      { title: "Is it still you?", submit, giveUp },
      h("p", {}, "This step asks for a fresh two-factor code."),
      codeField,
      problem,
      said,
      h(
        "div",
        { class: "row" },
        button,
        bySms && h("button", { type: "button", class: "plain", onclick: sendAgain }, "Send it by SMS"),
        h("button", { type: "button", class: "plain", onclick: giveUp }, "Cancel"),
      ),
    )
  })

/** Two calls that want a code at the same time are served by one. */
export const askForCode = () => {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

import { explain, Problem, request } from "../platform/http.js"
import { account, renewed, tokens } from "../platform/session.js"
import { prove } from "../proof.js"
import { openDialog } from "./dialog.js"
import { field, fill, h } from "./dom.js"

const cancelled = () => new Problem(424, { error: "No code was entered. Nothing was changed." })

const sendSms = () => request("POST", "/account/2fa/sms_code", { token: tokens.value?.access_token })

let asking

/** @returns {Promise<void>} resolves when the code is verified, rejects when the user cancels */
const ask = () =>
  new Promise((resolve, reject) => {
    const problem = h("p", { id: "code-problem", class: "bad problem", role: "alert" })
    const status = h("p", { class: "soft problem", role: "status" })
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
        fill(status, "A code was sent to your phone.")
      } catch (error) {
        fill(problem, explain(error))
      } finally {
        pressed.disabled = false
        codeField.querySelector("input").focus()
      }
    }
    const cancel = () => {
      close()
      reject(cancelled())
    }
    const close = openDialog(
      { title: "Confirm your identity", submit, cancel },
      h("p", {}, "Enter a new two-factor code to continue."),
      codeField,
      problem,
      status,
      h(
        "div",
        { class: "row" },
        button,
        bySms && h("button", { type: "button", class: "plain", onclick: sendAgain }, "Send code by SMS"),
        h("button", { type: "button", class: "plain", onclick: cancel }, "Cancel"),
      ),
    )
  })

/** Asks for a two-factor code. Calls that need a code at the same time share one dialog. */
export const askForCode = () => {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

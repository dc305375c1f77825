import { explain, PageError } from "../platform/http.ts"
import { account, client } from "../platform/session.ts"
import { codeField } from "./code-field.ts"
import { openDialog } from "./dialog.ts"
import { fill, firstInput, h } from "./dom.ts"

const cancelled = () => new PageError("No code was entered. Nothing was changed.")

const ask = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const problem = h("p", { id: "code-problem", class: "bad problem", role: "alert" })
    const status = h("p", { class: "soft problem", role: "status" })
    const code = codeField("Code", "code-problem")
    const input = firstInput(code)
    const bySms = account.value?.user.two_factor_auth?.includes("SMS") ?? false
    const button = h("button", {}, "Confirm")
    const submit = async (event: SubmitEvent) => {
      event.preventDefault()
      button.disabled = true
      fill(problem)
      try {
        await client.enterCode(input.value.trim())
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
    const sendAgain = async ({ currentTarget: pressed }: { readonly currentTarget: HTMLButtonElement }) => {
      pressed.disabled = true
      fill(problem)
      try {
        await client.call("POST /account/2fa/sms_code")
        fill(status, "A code was sent to your phone.")
      } catch (error) {
        fill(problem, explain(error))
      } finally {
        pressed.disabled = false
        input.focus()
      }
    }
    const cancel = () => {
      close()
      reject(cancelled())
    }
    const close = openDialog(
      { title: "Confirm your identity", submit, cancel },
      h(
        "p",
        {},
        bySms
          ? "This change needs a two-factor code. Enter the newest code that was sent to your phone."
          : "This change needs a two-factor code. Enter the code that your authenticator app shows now. Each code works once.",
      ),
      code,
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

let asking: Promise<void> | undefined

/**
 * Asks for a two-factor code. Resolves when the code is verified, and rejects when the user cancels. Calls that need a
 * code at the same time share one dialog.
 */
export const askForCode = (): Promise<void> => {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

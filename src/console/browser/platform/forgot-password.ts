import { outboxHint } from "../outbox.ts"
import { actionForm } from "../parts/actions.ts"
import { field, fill, firstInput, h } from "../parts/dom.ts"
import { humanProof } from "./recaptcha.ts"
import { send } from "./request.ts"

/** The page of the link signs the user in, and then opens this view of the console. */
const redirect = "/#/sign-in/browser"

const sentStep = (place: Element, email: string): void =>
  fill(
    place,
    h("h2", { tabindex: "-1" }, "Check your email"),
    h("p", {}, "If ", h("strong", {}, email), " belongs to an account, a link was sent to this address."),
    h("p", { class: "soft" }, "Open the link to choose a new password. The link works once."),
    outboxHint({
      to: email,
      kind: "password_reset",
      label: "Open the link from the outbox",
      take: ({ link }) => location.assign(link ?? ""),
    }),
  )

/** Asks for the email address, and requests the link that sets a new password. */
export const drawForgotPassword = (place: Element): void => {
  const form = actionForm(
    {
      label: "Email me a link",
      name: "Reset password",
      submit: async (values) => {
        const email = values.text("email")
        await send("POST /auth/password_reset", {
          body: { email, redirect, ...(await humanProof("password_reset")) },
        })
        sentStep(place, email)
        place.querySelector("h2")?.focus()
      },
    },
    field("Email", { name: "email", type: "email", autocomplete: "email", maxlength: "320", required: true }),
  )
  fill(
    place,
    h("p", { class: "soft" }, "We email you a link. With it you choose a new password."),
    form,
    h("p", {}, h("a", { href: "#/sign-in" }, "Back to sign in")),
  )
  firstInput(form).focus()
}

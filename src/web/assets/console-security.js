import { actionButton, actionForm } from "./console-actions.js"
import { call } from "./console-api.js"
import { field, fill, h } from "./console-dom.js"
import { notify } from "./console-notices.js"
import { outboxHint } from "./console-outbox.js"
import { account, loadAccount } from "./console-session.js"

const names = { AuthenticatorApp: "Authenticator app", SMS: "SMS" }

const backupCodes = (codes) =>
  h(
    "details",
    { open: true },
    h("summary", {}, "Backup codes"),
    h(
      "p",
      { class: "small soft" },
      "Each turns two-factor off once, should you lose the device. Keep them apart from it.",
    ),
    h(
      "ul",
      { class: "backup-codes" },
      codes.map((code) => h("li", {}, h("code", {}, code))),
    ),
  )

const confirmForm = (label, letter) => {
  const form = actionForm(
    {
      label: "Turn it on",
      name: "Confirm two-factor",
      submit: async ({ code }) => {
        await call("POST", "/account/2fa/confirm", { code: code.trim() })
        await loadAccount()
        notify("Two-factor is on.", "good")
      },
    },
    field(label, {
      name: "code",
      inputmode: "numeric",
      autocomplete: "one-time-code",
      maxlength: "64",
      required: true,
    }),
    letter?.((code) => {
      form.querySelector("input").value = code ?? ""
    }),
  )
  return form
}

const setUpApp = async (place) => {
  const set = await call("POST", "/account/2fa/enable", { default: true, provider: "AuthenticatorApp" })
  fill(
    place,
    h("h2", {}, "Scan this with your authenticator app"),
    h("img", {
      class: "qr",
      alt: "QR code with the secret below",
      width: "220",
      height: "220",
      src: `data:image/svg+xml;utf8,${encodeURIComponent(set.ga_qr_code_svg)}`,
    }),
    h("p", { class: "center small" }, "or enter the secret ", h("code", { class: "secret" }, set.ga_secret)),
    confirmForm("Code the app shows"),
    backupCodes(set.backup_codes ?? []),
  )
  place.querySelector("input").focus()
}

const setUpSms = (place) => {
  const form = actionForm(
    {
      label: "Send a code",
      name: "Phone",
      submit: async ({ phone }) => {
        const set = await call("POST", "/account/2fa/enable", { default: true, provider: "SMS", phone })
        fill(
          place,
          h("h2", {}, `A code is on its way to …${set.phone_last_digits ?? ""}`),
          confirmForm("Code from the SMS", (take) =>
            outboxHint({
              to: phone.replaceAll(/[\s().-]/g, ""),
              kind: "two_factor_sms",
              take: ({ code }) => take(code),
            }),
          ),
          backupCodes(set.backup_codes ?? []),
        )
        place.querySelector("input").focus()
      },
    },
    field("Phone number", {
      name: "phone",
      type: "tel",
      autocomplete: "tel",
      placeholder: "+1 555 010 0200",
      maxlength: "40",
      required: true,
    }),
  )
  fill(place, form)
}

export const drawSecurity = (place, life) => {
  const drawState = (current) => {
    if (current === undefined) return
    const on = current.user.two_factor_auth ?? []
    const step = h("section", { class: "card" })
    fill(
      place,
      h(
        "section",
        { class: "card" },
        h(
          "p",
          {},
          on.length === 0
            ? "Two-factor is off. With it, taking an id or the account away needs a code only you can make."
            : `Two-factor is on: ${on.map((name) => names[name]).join(" and ")}.`,
        ),
        h(
          "div",
          { class: "row" },
          !on.includes("AuthenticatorApp") &&
            actionButton("Set up an authenticator app", () => setUpApp(step)),
          !on.includes("SMS") && actionButton("Set up SMS", async () => setUpSms(step), { class: "plain" }),
          on.map((provider) =>
            actionButton(
              `Turn off ${names[provider]}`,
              async () => {
                await call("POST", "/account/2fa/disable", { disable_all: false, provider })
                await loadAccount()
                notify(`${names[provider]} is off.`)
              },
              { class: "plain" },
            ),
          ),
        ),
      ),
      step,
    )
  }
  life.keep(account.watch(drawState))
}

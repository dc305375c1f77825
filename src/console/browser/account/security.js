import { outboxHint } from "../outbox.js"
import { actionButton, actionForm, finalButton } from "../parts/actions.js"
import { field, fill, h } from "../parts/dom.js"
import { notify } from "../parts/notices.js"
import { call } from "../platform/api.js"
import { account, loadAccount } from "../platform/session.js"

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

/** Once it is on, the codes stay to be copied; the rest has done its work. */
const confirmForm = (place, codes, label, letter) => {
  const form = actionForm(
    {
      label: "Turn it on",
      name: "Confirm two-factor",
      submit: async ({ code }) => {
        await call("POST", "/account/2fa/confirm", { code: code.trim() })
        fill(place, backupCodes(codes))
        notify("Two-factor is on.", "good")
        await loadAccount()
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
  const codes = set.backup_codes ?? []
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
    confirmForm(place, codes, "Code the app shows"),
    backupCodes(codes),
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
        const codes = set.backup_codes ?? []
        fill(
          place,
          h("h2", {}, `A code is on its way to …${set.phone_last_digits ?? ""}`),
          confirmForm(place, codes, "Code from the SMS", (take) =>
            outboxHint({
              to: phone.replaceAll(/[\s().-]/g, ""),
              kind: "two_factor_sms",
              take: ({ code }) => take(code),
            }),
          ),
          backupCodes(codes),
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
  const state = h("section", { class: "card" })
  // Apart from the state, so that a secret or codes that are shown this once outlive a change of the account.
  const step = h("section", { class: "card" })
  fill(place, state, step)
  const drawState = (current) => {
    if (current === undefined) return
    const on = current.user.two_factor_auth ?? []
    fill(
      state,
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
        !on.includes("AuthenticatorApp") && actionButton("Set up an authenticator app", () => setUpApp(step)),
        !on.includes("SMS") && actionButton("Set up SMS", async () => setUpSms(step), { class: "plain" }),
        on.map((provider) =>
          finalButton(
            `Turn off ${names[provider]}`,
            {
              question: `Turn off ${names[provider]}?`,
              consequence:
                on.length > 1
                  ? `Codes come by ${on
                      .filter((other) => other !== provider)
                      .map((other) => names[other])
                      .join(" and ")} alone from then on.`
                  : "Whoever has your password can then take your ids and your account.",
            },
            async () => {
              await call("POST", "/account/2fa/disable", { disable_all: false, provider })
              fill(step)
              await loadAccount()
              notify(`${names[provider]} is off.`)
            },
            { class: "plain" },
          ),
        ),
      ),
    )
  }
  life.keep(account.watch(drawState))
}

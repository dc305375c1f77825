import type { CurrentUser, TwoFactorProvider } from "../../../client/api-types.ts"
import { outboxHint } from "../outbox.ts"
import { actionButton, actionForm, confirmButton } from "../parts/actions.ts"
import { codeField } from "../parts/code-field.ts"
import { type Child, field, fill, firstInput, h } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { account, loadAccount } from "../platform/session.ts"
import { copyButton } from "./secret.ts"

const names: Readonly<Record<TwoFactorProvider, string>> = {
  AuthenticatorApp: "Authenticator app",
  SMS: "SMS",
}

const backupCodes = (codes: ReadonlyArray<string>) =>
  h(
    "details",
    { open: true },
    h("summary", {}, "Backup codes"),
    h(
      "p",
      { class: "small soft" },
      "If you lose your device, use one of these codes instead. Each code works once. Do not store the codes on that device.",
    ),
    h(
      "ul",
      { class: "backup-codes" },
      codes.map((code) => h("li", {}, h("code", {}, code))),
    ),
    copyButton(codes.join("\n"), "The backup codes"),
  )

/** The form that confirms the two-factor setup with a code. Afterwards `place` shows only the backup codes. */
const confirmForm = (
  place: Element,
  codes: ReadonlyArray<string>,
  label: string,
  hint?: (take: (code: string | undefined) => void) => Child,
): HTMLFormElement => {
  const form: HTMLFormElement = actionForm(
    {
      label: "Turn on",
      sign: "check",
      name: "Confirm two-factor",
      submit: async (values) => {
        await call("POST /account/2fa/confirm", { body: { code: values.text("code").trim() } })
        fill(place, backupCodes(codes))
        notify("Two-factor authentication was turned on.", "good")
        await loadAccount()
      },
    },
    codeField(label),
    hint?.((code) => {
      firstInput(form).value = code ?? ""
    }),
  )
  return form
}

const setUpApp = async (place: Element): Promise<void> => {
  const body = { default: true, provider: "AuthenticatorApp" } as const
  const set = await call("POST /account/2fa/enable", { body })
  const codes = set.backup_codes ?? []
  fill(
    place,
    h("h2", {}, "Scan this QR code with your authenticator app"),
    h("img", {
      class: "qr",
      alt: "QR code with the secret below",
      width: "220",
      height: "220",
      src: `data:image/svg+xml;utf8,${encodeURIComponent(set.ga_qr_code_svg ?? "")}`,
    }),
    h(
      "p",
      { class: "center small" },
      "Or enter this secret: ",
      h("code", { class: "secret" }, set.ga_secret),
      " ",
      copyButton(set.ga_secret ?? "", "The secret"),
    ),
    confirmForm(place, codes, "Code from the app"),
    backupCodes(codes),
  )
  firstInput(place).focus()
}

const setUpSms = (place: Element): void => {
  const form = actionForm(
    {
      label: "Send code",
      name: "Phone",
      submit: async (values) => {
        const phone = values.text("phone")
        const body = { default: true, provider: "SMS", phone } as const
        const set = await call("POST /account/2fa/enable", { body })
        const codes = set.backup_codes ?? []
        fill(
          place,
          h("h2", {}, `Enter the code that was sent to …${set.phone_last_digits ?? ""}`),
          confirmForm(place, codes, "Code from the SMS", (take) =>
            outboxHint({
              to: phone.replaceAll(/[\s().-]/g, ""),
              kind: "two_factor_sms",
              take: ({ code }) => take(code),
            }),
          ),
          backupCodes(codes),
        )
        firstInput(place).focus()
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
  firstInput(form).focus()
}

export const drawSecurity: Section["draw"] = (place, lifetime) => {
  const state = h("section", { class: "card" })
  // The setup steps have a separate section, so that the secret and the codes stay visible when the account changes.
  const step = h("section", { class: "card" })
  fill(place, state, step)
  const setUpButton = (
    label: string,
    setUp: (place: Element) => Promise<void>,
    properties: Parameters<typeof actionButton>[2],
  ) =>
    actionButton(
      label,
      async () => {
        await setUp(step)
        drawState(account.value)
      },
      properties,
    )
  const drawState = (current: CurrentUser | undefined): void => {
    if (current === undefined) return
    const on = current.user.two_factor_auth ?? []
    fill(
      state,
      h(
        "p",
        {},
        on.length === 0
          ? "Two-factor authentication is off. Turn it on to require a code for sensitive actions, such as transfers and password changes. Existing API keys can then no longer do them."
          : `Two-factor authentication is on: ${on.map((name) => names[name]).join(" and ")}.`,
      ),
      h(
        "div",
        { class: "row" },
        !on.includes("AuthenticatorApp") &&
          setUpButton("Set up an authenticator app", setUpApp, {
            sign: "shield",
            // The open step has the button to press next.
            class: step.hasChildNodes() ? "plain" : "",
          }),
        !on.includes("SMS") &&
          setUpButton("Set up SMS", async (place) => setUpSms(place), { class: "plain" }),
        on.map((provider) =>
          confirmButton(
            `Turn off ${names[provider]}`,
            {
              question: `Turn off ${names[provider]}?`,
              consequence:
                on.length > 1
                  ? `Your only two-factor method will be ${on
                      .filter((other) => other !== provider)
                      .map((other) => names[other])
                      .join(" and ")}.`
                  : "Anyone who has your password can then sign in and transfer your ids.",
            },
            async () => {
              await call("POST /account/2fa/disable", { body: { disable_all: false, provider } })
              fill(step)
              await loadAccount()
              notify(`${names[provider]} was turned off.`)
            },
            { class: "plain" },
          ),
        ),
      ),
    )
  }
  lifetime.onEnd(account.watch(drawState))
}

import { openDialog } from "../parts/dialog.ts"
import { h } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import type { Signal } from "../parts/signal.ts"
import type { AddressFacts } from "./address.ts"

interface Code {
  /** The id whose owner is paid. */
  readonly id: string
  readonly name: string
  readonly address: string
  readonly facts: AddressFacts | undefined
  /** Why the address may be wrong. The dialog closes when there is a doubt. */
  readonly doubt: Signal<string | undefined>
}

/** Shows the QR code of an address in a dialog, with what a payer must know about the address. */
export const showQrCode = async ({ address, doubt, facts, id, name }: Code): Promise<void> => {
  const { qrCode } = await import("./qr-code.ts")
  const knownDoubt = doubt.value
  const end = (): void => {
    stop()
    close()
  }
  const close = openDialog(
    {
      title: `${name} address of ${id}`,
      submit: (event) => {
        event.preventDefault()
        end()
      },
      cancel: end,
    },
    facts?.network !== undefined &&
      h(
        "p",
        {},
        "Send only ",
        h("strong", {}, name),
        " on the network ",
        h("strong", {}, facts.network),
        ".",
      ),
    facts?.memo !== undefined &&
      h(
        "p",
        { class: "warn" },
        "This payment needs the memo ",
        h("code", {}, facts.memo),
        ". The QR code does not contain it.",
      ),
    qrCode(address, `QR code of the ${name} address`),
    h("p", { class: "center" }, h("code", {}, address)),
    h("div", { class: "row middle" }, h("button", { class: "plain" }, "Close")),
  )
  const stop = doubt.watch((text) => {
    if (text === undefined || text === knownDoubt) return
    // The first call runs before `stop` is set, and it never ends the dialog.
    end()
    notify(`The QR code was closed. ${text}`, "warn")
  })
}

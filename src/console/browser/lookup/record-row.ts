import { actionButton } from "../parts/actions.ts"
import { badge, fill, h } from "../parts/dom.ts"
import { icon } from "../parts/icon.ts"
import type { Signal } from "../parts/signal.ts"
import type { AddressFacts, ShownRecord } from "./address.ts"
import { confirmDoubt, copyButton } from "./copy.ts"
import { showQrCode } from "./qr-dialog.ts"

export interface RecordRow {
  readonly element: HTMLLIElement
  readonly setFacts: (facts: AddressFacts | undefined) => void
}

const copied = ({ isAddress, name }: ShownRecord): string => (isAddress ? `${name} address` : name)

const openLink = (href: string, name: string) =>
  h(
    "a",
    {
      class: "button plain small with-icon",
      href,
      target: "_blank",
      rel: "noopener noreferrer",
      "aria-label": `Open ${name} in a new tab`,
    },
    icon("external-link"),
    "Open",
  )

/** Shows a record of a lookup with its buttons. */
export const recordRow = (id: string, record: ShownRecord, doubt: Signal<string | undefined>): RecordRow => {
  const { details, href, isAddress, isDefault, name, value } = record
  const code = h("code", {}, value)
  const facts = h("span", { class: "record-facts" })
  let known: AddressFacts | undefined
  const qr = (): HTMLButtonElement => {
    const button = actionButton(
      "QR code",
      async () => {
        if (await confirmDoubt(doubt.value, "Show anyway"))
          await showQrCode({ id, name, address: code.textContent, facts: known, doubt })
      },
      { class: "plain small with-icon", "aria-label": `QR code of the ${name} address` },
    )
    button.prepend(icon("qr-code"))
    return button
  }
  const element = h(
    "li",
    { class: isAddress ? "lookup-record is-address" : "lookup-record" },
    h(
      "span",
      { class: "record" },
      h("span", { class: "record-name" }, h("strong", {}, name), isDefault && badge("default")),
      href === undefined
        ? code
        : h("a", { class: "record-link", href, target: "_blank", rel: "noopener noreferrer" }, code),
      details !== "" && h("span", { class: "soft small" }, details),
      facts,
    ),
    h(
      "span",
      { class: "record-actions" },
      copyButton({ what: copied(record), shown: code, doubt: () => doubt.value }),
      isAddress && qr(),
      href !== undefined && openLink(href, name),
    ),
  )
  const memoLine = (memo: string) => {
    const shown = h("code", {}, memo)
    const copy = copyButton({ what: `memo of the ${name} address`, shown, doubt: () => doubt.value })
    return h(
      "span",
      { class: "warn small with-icon" },
      icon("triangle-alert"),
      "Needs the memo ",
      shown,
      copy,
    )
  }
  const setFacts = (next: AddressFacts | undefined): void => {
    known = next
    fill(code, next?.address ?? value)
    fill(
      facts,
      next?.network !== undefined && h("span", { class: "soft small" }, `Network: ${next.network}`),
      next?.memo !== undefined && memoLine(next.memo),
      next?.warning !== undefined &&
        h("span", { class: "warn small with-icon" }, icon("triangle-alert"), h("span", {}, next.warning)),
    )
  }
  return { element, setFacts }
}

import type { DisplayTransferRequest } from "../../../client/api-types.ts"
import { outboxHint } from "../outbox.ts"
import { actionButton, actionForm } from "../parts/actions.ts"
import { codeField } from "../parts/code-field.ts"
import { badge, emojiText, firstInput, h } from "../parts/dom.ts"
import { when, words } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { call } from "../platform/api.ts"
import { account } from "../platform/session.ts"

export type Transfer = DisplayTransferRequest
export type Side = "sender" | "receiver"

/** The page that a receiver sees after accepting a transfer. */
const acceptedHash = (id: string): string => `#/transfers/${id}/accepted`

export const otherParty = (transfer: Transfer, side: Side): string =>
  side === "sender"
    ? transfer.email || "the owner of a public key"
    : (transfer.sender_email ?? "an unknown sender")

export const isOpen = ({ status }: Transfer): boolean =>
  status === "AwaitingSender" || status === "AwaitingReceiver"
const statusKinds = {
  Accepted: "good",
  Deleted: "",
  Expired: "",
  AwaitingSender: "warn",
  AwaitingReceiver: "warn",
}

const steps = ["Requested", "Confirmed by sender", "Accepted"]
const reached: Readonly<Record<Transfer["status"], number>> = {
  AwaitingSender: 1,
  AwaitingReceiver: 2,
  Accepted: 3,
  Deleted: 0,
  Expired: 0,
}

const progress = (transfer: Transfer) =>
  h(
    "ol",
    { class: "steps small", "aria-label": `Step ${reached[transfer.status]} of 3` },
    steps.map((text, i) => h("li", { class: i < reached[transfer.status] ? "done" : "" }, text)),
  )

const endButton = ({ id }: Transfer, side: Side) =>
  actionButton(
    side === "sender" ? "Cancel transfer" : "Decline",
    () => call("DELETE /transfers/{transfer_id}", { params: { transfer_id: id } }),
    { class: "plain" },
  )

const codeForm = (transfer: Transfer, side: Side) => {
  const isSender = side === "sender"
  const params = { transfer_id: transfer.id }
  const form: HTMLFormElement = actionForm(
    {
      label: isSender ? "Confirm" : "Accept",
      sign: "check",
      name: isSender ? "Confirm the transfer" : "Accept the transfer",
      submit: async (values) => {
        await call(`POST /transfers/{transfer_id}/${side}_accept`, {
          params,
          body: { code: values.text("code").trim() },
        })
        if (!isSender) location.hash = acceptedHash(transfer.id)
      },
      beside: [
        actionButton(
          "Send a new code",
          async () => {
            await call("POST /transfers/{transfer_id}/resend_code", { params })
            notify("A new code was sent by email.")
          },
          { class: "quiet" },
        ),
        endButton(transfer, side),
      ],
    },
    codeField("Code from your email"),
    outboxHint({
      to: account.value?.user.email ?? "",
      kind: isSender ? "transfer_sender_code" : "transfer_receiver_code",
      take: ({ code }) => {
        firstInput(form).value = code ?? ""
      },
    }),
  )
  return form
}

export const transferCard = (transfer: Transfer, side: Side) => {
  const isSender = side === "sender"
  const mine =
    (isSender && transfer.status === "AwaitingSender") ||
    (!isSender && transfer.status === "AwaitingReceiver")
  return h(
    "li",
    { class: "card transfer" },
    h(
      "div",
      { class: "transfer-head" },
      emojiText(transfer.eid),
      h("span", {}, isSender ? "to " : "from ", h("strong", {}, otherParty(transfer, side))),
      badge(mine ? "Waiting for you" : words(transfer.status), statusKinds[transfer.status]),
    ),
    isOpen(transfer) && progress(transfer),
    transfer.message && h("blockquote", {}, transfer.message),
    transfer.clear_on_transfer &&
      h("p", { class: "soft small" }, "Its records are cleared when the transfer completes."),
    mine && codeForm(transfer, side),
    isOpen(transfer) &&
      !mine &&
      h(
        "div",
        { class: "row" },
        h(
          "span",
          { class: "soft" },
          isSender ? "Waiting for the receiver to accept." : "Waiting for the sender to confirm.",
        ),
        endButton(transfer, side),
      ),
  )
}

/** A transfer that has ended, in one line. */
export const endedTransfer = (transfer: Transfer, side: Side) =>
  h(
    "li",
    { class: "transfer ended" },
    emojiText(transfer.eid),
    h(
      "span",
      { class: "ended-party" },
      side === "sender" ? "to " : "from ",
      h("strong", {}, otherParty(transfer, side)),
    ),
    badge(words(transfer.status), statusKinds[transfer.status]),
    h(
      "span",
      { class: "soft small" },
      when(transfer.accepted_at ?? transfer.deleted_at ?? transfer.created_at),
    ),
  )

import type { DisplayTransferRequest } from "../../client/api-types.ts"
import type { View } from "./main.ts"
import { outboxHint } from "./outbox.ts"
import { actionButton, actionForm } from "./parts/actions.ts"
import {
  badge,
  type Child,
  choice,
  cut,
  emojiText,
  empty,
  field,
  fill,
  firstInput,
  h,
  keyed,
  tick,
} from "./parts/dom.ts"
import { when, words } from "./parts/format.ts"
import { notify } from "./parts/notices.ts"
import { coalesced } from "./parts/signal.ts"
import { call, readIds } from "./platform/api.ts"
import { account } from "./platform/session.ts"
import { ownedChanges, transfers } from "./platform/store.ts"

type Transfer = DisplayTransferRequest
type Side = "sender" | "receiver"

const isOpen = ({ status }: Transfer): boolean => status === "AwaitingSender" || status === "AwaitingReceiver"
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
      name: isSender ? "Confirm the transfer" : "Accept the transfer",
      submit: (values) =>
        call(`POST /transfers/{transfer_id}/${side}_accept`, {
          params,
          body: { code: values.text("code").trim() },
        }),
      beside: [
        actionButton(
          "Send a new code",
          async () => {
            await call("POST /transfers/{transfer_id}/resend_code", { params })
            notify("A new code was sent by email.")
          },
          { class: "plain" },
        ),
        endButton(transfer, side),
      ],
    },
    field("Code from your email", {
      name: "code",
      inputmode: "numeric",
      autocomplete: "one-time-code",
      maxlength: "32",
      required: true,
    }),
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

const transferCard = (transfer: Transfer, side: Side) => {
  const isSender = side === "sender"
  const mine =
    (isSender && transfer.status === "AwaitingSender") ||
    (!isSender && transfer.status === "AwaitingReceiver")
  const other = isSender
    ? transfer.email || "the owner of a public key"
    : (transfer.sender_email ?? "an unknown sender")
  return h(
    "li",
    { class: "card transfer" },
    h(
      "div",
      { class: "transfer-head" },
      emojiText(transfer.eid),
      h("span", {}, isSender ? "to " : "from ", h("strong", {}, other)),
      badge(words(transfer.status), statusKinds[transfer.status]),
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
    !isOpen(transfer) &&
      h(
        "p",
        { class: "soft small" },
        when(transfer.accepted_at ?? transfer.deleted_at ?? transfer.created_at),
      ),
  )
}

const drawList = (list: Element, items: ReadonlyArray<Transfer>, side: Side, nothing: Child): void => {
  if (items.length === 0) {
    fill(list, h("li", { class: "soft" }, nothing))
    return
  }
  if (!list.firstElementChild?.hasAttribute("data-key")) fill(list)
  keyed(list, items, {
    key: ({ id }) => id,
    version: ({ status }) => status,
    render: (transfer) => transferCard(transfer, side),
  })
}

const confirmFirst = () =>
  h(
    "span",
    {},
    "Incoming transfers are shown after you ",
    h("a", { href: "#/account/profile" }, "confirm your email address"),
    ".",
  )

const newTransfer = () =>
  actionForm(
    {
      label: "Start transfer",
      name: "New transfer",
      submit: async (values, form) => {
        const message = values.text("message")
        await call("POST /transfers", {
          body: {
            eid: values.text("eid"),
            email: values.text("email"),
            clear_on_transfer: values.isTicked("clear"),
            ...(message === "" ? {} : { message }),
          },
        })
        form.reset()
      },
    },
    choice("Id", "eid", [], { class: "emoji-select", required: true }),
    field("Recipient email", { name: "email", type: "email", maxlength: "320", required: true }),
    field("Message (optional)", { name: "message", maxlength: "1000" }),
    tick("Clear its records when the transfer completes", { name: "clear" }),
  )

/** Updates the ids that can be selected. If the selected id is no longer available, the selection is cleared. */
const offer = (select: HTMLSelectElement, ids: ReadonlyArray<string>): void => {
  const isFirst = select.options.length === 0
  const { value } = select
  fill(
    select,
    ids.map((id) => h("option", { value: id }, id)),
  )
  if (!isFirst) select.value = value
}

export const draw: View["draw"] = (root, lifetime) => {
  const begin = h("div", {})
  const form = newTransfer()
  const select = form.querySelector("select")!
  const card = h("div", { class: "card" }, form)
  const incoming = h("ul", { class: "plain-list" })
  const outgoing = h("ul", { class: "plain-list" })
  const more = h("div", {})
  root.append(
    h("h1", {}, "Transfers"),
    h("h2", {}, "Incoming"),
    incoming,
    h("h2", {}, "Outgoing"),
    outgoing,
    more,
    h("h2", {}, "Transfer an id"),
    begin,
  )
  // The form is not redrawn while the user types. It is replaced by a text only when no ids are left.
  const drawBegin = coalesced(async () => {
    const ids = await readIds()
    const given = new Set(transfers.value?.outgoing.filter(isOpen).map(({ eid }) => eid))
    const free = ids.filter((id) => !given.has(id))
    offer(select, free)
    if (free.length === 0) fill(begin, empty("📮", "You have no ids that can be transferred."))
    else if (!begin.contains(card)) fill(begin, card)
  })
  lifetime.onEnd(
    transfers.watch((value) => {
      if (value === undefined) return
      drawList(
        incoming,
        value.incoming,
        "receiver",
        value.mustConfirm ? confirmFirst() : "No incoming transfers.",
      )
      drawList(outgoing, value.outgoing, "sender", "No outgoing transfers.")
      fill(more, cut(value.outgoing, value.sent))
      drawBegin().catch(() => {})
    }),
  )
  lifetime.onEnd(ownedChanges.watch(() => void drawBegin().catch(() => {})))
  return "Transfers"
}

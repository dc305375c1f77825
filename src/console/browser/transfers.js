import { outboxHint } from "./outbox.js"
import { actionButton, actionForm } from "./parts/actions.js"
import { badge, choice, cut, emojiText, empty, field, fill, h, keyed, tick } from "./parts/dom.js"
import { when, words } from "./parts/format.js"
import { notify } from "./parts/notices.js"
import { coalesced } from "./parts/signal.js"
import { call, getAll } from "./platform/api.js"
import { account } from "./platform/session.js"
import { ownedChanges, transfers } from "./platform/store.js"

const isOpen = ({ status }) => status === "AwaitingSender" || status === "AwaitingReceiver"
const statusKinds = {
  Accepted: "good",
  Deleted: "",
  Expired: "",
  AwaitingSender: "warn",
  AwaitingReceiver: "warn",
}

const steps = ["Requested", "Confirmed by sender", "Accepted"]
const reached = { AwaitingSender: 1, AwaitingReceiver: 2, Accepted: 3, Deleted: 0, Expired: 0 }

const progress = (transfer) =>
  h(
    "ol",
    { class: "steps small", "aria-label": `Step ${reached[transfer.status]} of 3` },
    steps.map((text, i) => h("li", { class: i < reached[transfer.status] ? "done" : "" }, text)),
  )

const codeForm = (transfer, side) => {
  const isSender = side === "sender"
  const form = actionForm(
    {
      label: isSender ? "Confirm" : "Accept",
      name: isSender ? "Confirm the transfer" : "Accept the transfer",
      submit: ({ code }) => call("POST", `/transfers/${transfer.id}/${side}_accept`, { code: code.trim() }),
      beside: [
        actionButton(
          "Send a new code",
          async () => {
            await call("POST", `/transfers/${transfer.id}/resend_code`)
            notify("A new code was sent by email.")
          },
          { class: "plain" },
        ),
        actionButton(
          isSender ? "Cancel transfer" : "Decline",
          () => call("DELETE", `/transfers/${transfer.id}`),
          {
            class: "plain",
          },
        ),
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
        form.querySelector("input").value = code ?? ""
      },
    }),
  )
  return form
}

const transferCard = (transfer, side) => {
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
        actionButton(
          isSender ? "Cancel transfer" : "Decline",
          () => call("DELETE", `/transfers/${transfer.id}`),
          {
            class: "plain",
          },
        ),
      ),
    !isOpen(transfer) &&
      h(
        "p",
        { class: "soft small" },
        when(transfer.accepted_at ?? transfer.deleted_at ?? transfer.created_at),
      ),
  )
}

const drawList = (list, items, side, nothing) => {
  if (items.length === 0) return fill(list, h("li", { class: "soft" }, nothing))
  if (list.firstElementChild?.dataset.key === undefined) fill(list)
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
        await call("POST", "/transfers", {
          eid: values.eid,
          email: values.email,
          clear_on_transfer: values.clear === "on",
          ...(values.message === "" ? {} : { message: values.message }),
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
const offer = (select, ids) => {
  const isFirst = select.options.length === 0
  const { value } = select
  fill(
    select,
    ids.map((id) => h("option", { value: id }, id)),
  )
  if (!isFirst) select.value = value
}

export const draw = async (root, lifetime) => {
  const begin = h("div", {})
  const form = newTransfer()
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
    const ids = await getAll("/emoji_id")
    const given = new Set(transfers.value?.outgoing.filter(isOpen).map(({ eid }) => eid))
    const free = ids.filter((id) => !given.has(id))
    offer(form.elements.eid, free)
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
  lifetime.onEnd(ownedChanges.watch(() => drawBegin().catch(() => {})))
  return "Transfers"
}

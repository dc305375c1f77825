import type { View } from "../main.ts"
import { actionForm } from "../parts/actions.ts"
import { type Child, choice, cut, empty, field, fill, h, keyed, tick } from "../parts/dom.ts"
import { failure } from "../parts/retry.ts"
import { coalesced } from "../parts/signal.ts"
import { call, readIds } from "../platform/api.ts"
import { loadTransfers, ownedChanges, transfers, transfersFailure } from "../platform/store.ts"
import { newIds, success } from "./next-steps.ts"
import { endedTransfer, isOpen, otherParty, type Side, type Transfer, transferCard } from "./transfer-card.ts"

const shownReceived = 200

const readReceived = () =>
  call("GET /transfers/incoming", { query: { accepted: true, limit: shownReceived } })

const drawList = (list: Element, items: ReadonlyArray<Transfer>, side: Side, nothing: Child): void => {
  if (items.length === 0) {
    fill(list, h("li", { class: "soft" }, nothing))
    return
  }
  if (!list.firstElementChild?.hasAttribute("data-key")) fill(list)
  keyed(list, items, {
    key: ({ id }) => id,
    version: ({ status }) => status,
    render: (transfer) => (isOpen(transfer) ? transferCard(transfer, side) : endedTransfer(transfer, side)),
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
      sign: "arrow-left-right",
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
    h(
      "p",
      { class: "soft small" },
      "The recipient owns the id as soon as they accept. You can cancel until then, but you cannot take the id back afterwards.",
    ),
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

/** Draws the form that starts a transfer. The result draws it again after the ids or the transfers have changed. */
const drawBegin = (place: Element): (() => void) => {
  const form = newTransfer()
  const select = form.querySelector("select")!
  const card = h("div", { class: "card" }, form)
  // The form is not redrawn while the user types. It is replaced by a text only when no ids are left.
  const read = coalesced(async () => {
    try {
      const ids = await readIds()
      const given = new Set(transfers.value?.outgoing.filter(isOpen).map(({ eid }) => eid))
      const free = ids.filter((id) => !given.has(id))
      offer(select, free)
      if (free.length === 0) fill(place, empty("📮", "You have no ids that can be transferred."))
      else if (!place.contains(card)) fill(place, card)
    } catch (error) {
      if (!place.contains(card)) fill(place, failure(error, read))
    }
  })
  return () => void read()
}

/** Draws the accepted incoming transfers. The result draws them again. */
const drawReceived = (place: Element): (() => void) => {
  const list = h("ul", { class: "plain-list" })
  const read = coalesced(async () => {
    try {
      const received = await readReceived()
      drawList(list, received, "receiver", "You have not received any ids yet.")
      const note = h("p", { class: "soft small" }, `Showing the newest ${shownReceived}.`)
      fill(place, list, received.length === shownReceived && note)
    } catch (error) {
      fill(place, failure(error, read))
    }
  })
  return () => void read()
}

/** The page after a user has accepted a transfer. */
const drawAccepted = async (root: HTMLElement, id: string): Promise<string> => {
  const transfer = (await readReceived()).find((received) => received.id === id)
  if (transfer === undefined)
    root.append(
      h("h1", {}, "Transfer not found"),
      h("p", {}, "It is not among the transfers that you accepted."),
    )
  else
    root.append(
      success(
        `${transfer.eid} is now yours.`,
        h(
          "p",
          { class: "soft" },
          `From ${otherParty(transfer, "receiver")}. ${transfer.clear_on_transfer ? "Its records were cleared." : ""}`,
        ),
        !transfer.clear_on_transfer &&
          h(
            "p",
            { class: "warn" },
            "The id kept its records. Check them: payments to this id may still go to the sender.",
          ),
        newIds([transfer.eid], transfer.clear_on_transfer ? "Add records" : "Check records"),
      ),
    )
  root.append(h("p", { class: "row middle" }, h("a", { href: "#/transfers" }, "All transfers")))
  return "Transfer accepted"
}

export const draw: View["draw"] = (root, lifetime, [id = "", page = ""]) => {
  if (page === "accepted") return drawAccepted(root, id)
  const problem = h("div", {})
  const begin = h("div", {})
  const incoming = h("ul", { class: "plain-list" })
  const outgoing = h("ul", { class: "plain-list" })
  const received = h("div", {})
  const sent = h("ul", { class: "plain-list" })
  const more = h("div", {})
  // Until the transfers are loaded, only an error is shown.
  const lists = h(
    "div",
    { hidden: true },
    h("h2", {}, "Incoming"),
    incoming,
    h("h2", {}, "Outgoing"),
    outgoing,
    h("h2", {}, "Transfer an id"),
    begin,
    h("h2", {}, "History"),
    h("h3", {}, "Received"),
    received,
    h("h3", {}, "Sent"),
    sent,
    more,
  )
  root.append(h("h1", {}, "Transfers"), problem, lists)
  const updateBegin = drawBegin(begin)
  const updateReceived = drawReceived(received)
  lifetime.onEnd(
    transfers.watch((value) => {
      if (value === undefined) return
      lists.hidden = false
      const isWaiting = value.mustConfirm
      drawList(incoming, value.incoming, "receiver", isWaiting ? confirmFirst() : "No incoming transfers.")
      const open = value.outgoing.filter(isOpen)
      drawList(outgoing, open, "sender", "No outgoing transfers.")
      const ended = value.outgoing.filter((transfer) => !isOpen(transfer))
      drawList(sent, ended, "sender", "You have not sent any ids yet.")
      fill(more, cut(value.outgoing, value.sent))
      updateBegin()
      if (isWaiting) fill(received, h("p", { class: "soft" }, "Confirm your email address first."))
      else updateReceived()
    }),
  )
  lifetime.onEnd(ownedChanges.watch(updateBegin))
  lifetime.onEnd(
    transfersFailure.watch((error) => fill(problem, error !== undefined && failure(error, loadTransfers))),
  )
  return "Transfers"
}

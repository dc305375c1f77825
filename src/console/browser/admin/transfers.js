import { confirmButton } from "../parts/actions.js"
import { badge, emojiText, empty, fill, h } from "../parts/dom.js"
import { when, words } from "../parts/format.js"
import { drawPaged, table } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"

const kinds = { Accepted: "good", AwaitingSender: "warn", AwaitingReceiver: "warn" }

export const drawTransfers = async (place) => {
  const list = h("div", {})
  fill(place, list)
  await drawPaged(
    list,
    (cursor) => get(`/transfers?all=true&limit=20${cursor}`),
    (transfers, again) =>
      transfers.length === 0
        ? empty("📮", "No transfers.")
        : table(
            ["Id", "From", "To", "Status", "Started", ""],
            transfers.map((transfer) => [
              emojiText(transfer.eid, "in-table"),
              transfer.sender_email ?? "",
              transfer.email,
              badge(words(transfer.status), kinds[transfer.status] ?? ""),
              when(transfer.created_at),
              transfer.status.startsWith("Awaiting") &&
                confirmButton(
                  "Cancel transfer",
                  {
                    question: `Cancel the transfer of ${transfer.eid}?`,
                    consequence: "The id stays with the sender. The sender can start a new transfer.",
                  },
                  async () => {
                    await call("DELETE", `/transfers/${transfer.id}`)
                    await again()
                  },
                  { class: "plain small" },
                ),
            ]),
          ),
  )
}

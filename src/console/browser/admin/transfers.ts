import { confirmButton } from "../parts/actions.ts"
import { badge, emojiText, empty, fill, h } from "../parts/dom.ts"
import { when, words } from "../parts/format.ts"
import { drawPaged, type Section, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"

const kinds: Readonly<Record<string, string>> = {
  Accepted: "good",
  AwaitingSender: "warn",
  AwaitingReceiver: "warn",
}

export const drawTransfers: Section["draw"] = async (place) => {
  const list = h("div", {})
  fill(place, list)
  await drawPaged(
    list,
    (cursor) => call("GET /transfers", { query: { all: true, limit: 20, ...cursor } }),
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
                    question: `Cancel the transfer of ${transfer.eid} to ${transfer.email}?`,
                    consequence: "The id stays with the sender. The sender can start a new transfer.",
                  },
                  async () => {
                    await call("DELETE /transfers/{transfer_id}", { params: { transfer_id: transfer.id } })
                    await again()
                  },
                  { sign: "x", class: "plain small" },
                ),
            ]),
          ),
  )
}

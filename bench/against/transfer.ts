import { converse, type Talk } from "../load/conversation.ts"
import type { HttpTraffic } from "../load/http-lane.ts"
import { buildRequest, type Target } from "../load/request.ts"
import { codeOf } from "../scenarios/transfers.ts"
import { canonicalAt } from "../stored/ids.ts"
import { bearer, type DirectoryData } from "./directory-data.ts"

/** The number of emoji in a transferred id. No other scenario of `--against` uses ids of this length. */
const transferredLength = 5

/**
 * Returns traffic that consists of complete transfers. Each transfer first registers a new id, because a transferred
 * id cannot be transferred again for 24 hours.
 */
export function transferIds(target: Target, { admin, people }: DirectoryData, firstId: number): HttpTraffic {
  const senders = people.length / 2
  let begun = 0
  return converse(function* (connection): Talk {
    const sender = people[connection % senders]!
    const receiver = people[(connection % senders) + senders]!
    const send = (token: string, method: string, path: string, body?: unknown) => ({
      request: buildRequest(target, {
        method,
        path,
        headers: bearer(token),
        ...(body === undefined ? {} : { body }),
      }),
      status: 200,
    })
    const mailsTo = (email: string) => send(admin, "GET", `/dev/outbox?to=${encodeURIComponent(email)}`)
    for (;;) {
      const eid = canonicalAt(firstId + begun++, transferredLength)
      yield send(admin, "POST", "/emoji_id", { emoji_id: eid, email: sender.email })
      const made = yield send(sender.token, "POST", "/transfers", { eid, email: receiver.email })
      const { id } = JSON.parse(made.body.toString()) as { readonly id: string }
      const sent = yield mailsTo(sender.email)
      const code = codeOf(sent.body, "transfer_sender_code")
      yield send(sender.token, "POST", `/transfers/${id}/sender_accept`, { code })
      const received = yield mailsTo(receiver.email)
      const accepted = codeOf(received.body, "transfer_receiver_code")
      yield send(receiver.token, "POST", `/transfers/${id}/receiver_accept`, { code: accepted })
    }
  })
}

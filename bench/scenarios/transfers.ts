import { converse, type Talk } from "../load/conversation.ts"
import { buildRequest, type Target } from "../load/request.ts"
import type { RequestScenario } from "../scenario.ts"
import { singleStatementWrites } from "../side.ts"
import { canonicalAt, storeIds } from "../stored/ids.ts"
import { openStored } from "../stored/open.ts"
import { emailAt, storePeople, storePubkeys, tokensOf } from "../stored/people.ts"
import { service } from "../subject.ts"

/** The number of people who send ids. The first half of the people sends ids to the second half. */
const senders = 500
const ids = 100_000

interface OutboxMail {
  readonly kind: string
  readonly code?: string
}

export const codeOf = (body: Buffer, kind: string): string => {
  const mails = JSON.parse(body.toString()) as readonly OutboxMail[]
  const code = mails.find((mail) => mail.kind === kind)?.code
  if (code === undefined) throw new Error(`no ${kind} in the outbox`)
  return code
}

/**
 * Each transfer is between the next two people. If a connection always used the same two, their mail would add up, and
 * each outbox request would list a hundred messages.
 */
const moves = (target: Target, tokens: readonly string[]) => {
  let begun = 0
  return converse(function* (): Talk {
    const send = (who: number, method: string, path: string, body?: unknown) => ({
      request: buildRequest(target, {
        method,
        path,
        headers: { Authorization: `Bearer ${tokens[who]}` },
        ...(body === undefined ? {} : { body }),
      }),
      status: 200,
    })
    const mailsTo = (who: number) => send(who, "GET", `/dev/outbox?to=${encodeURIComponent(emailAt(who))}`)
    for (;;) {
      const n = begun++
      const sender = n % senders
      const receiver = sender + senders
      const eid = canonicalAt(n)
      const made = yield send(sender, "POST", "/transfers", { eid, email: emailAt(receiver) })
      const { id } = JSON.parse(made.body.toString()) as { readonly id: string }
      const own = yield mailsTo(sender)
      const code = codeOf(own.body, "transfer_sender_code")
      yield send(sender, "POST", `/transfers/${id}/sender_accept`, { code })
      const theirs = yield mailsTo(receiver)
      const accepted = codeOf(theirs.body, "transfer_receiver_code")
      yield send(receiver, "POST", `/transfers/${id}/receiver_accept`, { code: accepted })
    }
  })
}

export const transfers: RequestScenario<readonly string[]> = {
  name: "transfers",
  summary: "complete transfers: three turns, and two outbox requests for the codes",
  onRequest: true,
  connections: 32,
  // As in `cart-cycle`: Node's JIT needs about this long to compile the code of a transfer.
  firstWarmupSeconds: 20,
  subject: service(),
  against: [{ side: singleStatementWrites(), firstWarmupSeconds: 5 }],
  prepare: async (server) => {
    await openStored(server, async (sql) => {
      await storePeople(sql, 2 * senders)
      await storePubkeys(sql)
      await storeIds(sql, { ids, owners: senders })
    })
    return tokensOf(server, 2 * senders)
  },
  requests: moves,
}

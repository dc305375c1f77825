import { describe, expect, it } from "vitest"
import { type AnyMachineSnapshot, type AnyStateMachine, initialTransition, transition } from "xstate"
import { lootboxMachine } from "../../machines/lootboxes/lootbox.ts"
import { transferMachine } from "../../machines/transfers/transfer.ts"

type Event = { readonly type: string }

/**
 * Finds all states that the events can reach. Returns for each state the target state of each event that it allows.
 */
const explore = (
  machine: AnyStateMachine,
  input: unknown,
  events: Readonly<Record<string, Event>>,
): Record<string, Record<string, string>> => {
  const [start] = initialTransition(machine, input as never)
  const map: Record<string, Record<string, string>> = {}
  const open: Array<AnyMachineSnapshot> = [start]
  for (let snapshot = open.shift(); snapshot !== undefined; snapshot = open.shift()) {
    const state = String(snapshot.value)
    if (map[state] !== undefined) continue
    const leads: Record<string, string> = {}
    for (const [name, event] of Object.entries(events)) {
      if (!snapshot.can(event as never)) continue
      const [next] = transition(machine, snapshot, event as never)
      leads[name] = String(next.value)
      open.push(next)
    }
    map[state] = leads
  }
  return map
}

describe("the transfer machine", () => {
  const input = {
    id: "t",
    eid: "🍕",
    sender: { id: "s", email: "s@example.com" },
    recipient: { id: "r", email: "r@example.com" },
    pubkey: null,
    clearOnTransfer: false,
    message: null,
  }
  const code = { hash: "h", sentAt: 0, expiresAt: 600_000, wrongTries: 0, resends: 0 }
  const issue = { code, mail: { to: "x", kind: "y", data: {} } }
  const accept = { pubkey: null, blockedSeconds: 1, mails: [] }
  const events = {
    request: { type: "REQUEST", now: 0, expiresAt: 1_000_000, issue },
    "sender, right": { type: "SENDER_ACCEPT", now: 1, matches: true, issue },
    "sender, wrong": { type: "SENDER_ACCEPT", now: 1, matches: false, issue },
    "receiver, right": { type: "RECEIVER_ACCEPT", now: 1, matches: true, ...accept },
    "receiver, wrong": { type: "RECEIVER_ACCEPT", now: 1, matches: false, ...accept },
    "receiver, code expired": { type: "RECEIVER_ACCEPT", now: 600_000, matches: true, ...accept },
    "resend, too early": { type: "RESEND", now: 1, issue },
    "resend, later": { type: "RESEND", now: 60_000, issue },
    delete: { type: "DELETE", now: 1 },
    "expire, early": { type: "EXPIRE", now: 999_999 },
    expire: { type: "EXPIRE", now: 1_000_000 },
  }
  const ends = { delete: "Deleted", expire: "Expired" }

  it("needs the sender's code and then the receiver's code, and refuses all events in its end states", () => {
    expect(explore(transferMachine, { ...input, forced: false }, events)).toEqual({
      New: { request: "AwaitingSender" },
      AwaitingSender: {
        "sender, right": "AwaitingReceiver",
        "sender, wrong": "AwaitingSender",
        "resend, later": "AwaitingSender",
        ...ends,
      },
      AwaitingReceiver: {
        "receiver, right": "Accepted",
        "receiver, wrong": "AwaitingReceiver",
        "resend, later": "AwaitingReceiver",
        ...ends,
      },
      Accepted: {},
      Deleted: {},
      Expired: {},
    })
  })

  it("does not wait for the sender if an administrator forces the transfer", () => {
    const map = explore(transferMachine, { ...input, forced: true }, events)
    expect(map["New"]).toEqual({ request: "AwaitingReceiver" })
    expect(map["AwaitingSender"]).toBeUndefined()
  })
})

describe("the lootbox machine", () => {
  const ids = [{ canonical: "🍕", score: 50 }]
  const change = (type: string, to: string) => ({
    type,
    now: 1,
    to,
    ids,
    ownerId: to === "Owned" || to === "Used" ? "o" : null,
    pubkey: "k",
  })
  const statuses = ["Draft", "Available", "Owned", "Used"]
  const events = {
    ...Object.fromEntries(statuses.map((to) => [`create ${to}`, change("CREATE", to)])),
    ...Object.fromEntries(statuses.map((to) => [`to ${to}`, change("REVISE", to)])),
    "to Owned, without owner": { ...change("REVISE", "Owned"), ownerId: null },
    "to Available, empty": { ...change("REVISE", "Available"), ids: [] },
    buy: { type: "BUY", now: 1, orderId: "b", buyerId: "o" },
    open: { type: "OPEN", now: 1, pubkey: "k" },
    delete: { type: "DELETE", now: 1 },
  }

  it("never returns to an earlier status, and opens only `Owned` lootboxes", () => {
    expect(explore(lootboxMachine, { id: "l", typeId: null, ids }, events)).toEqual({
      New: Object.fromEntries(statuses.map((to) => [`create ${to}`, to])),
      Draft: { ...Object.fromEntries(statuses.map((to) => [`to ${to}`, to])), delete: "Deleted" },
      Available: {
        "to Available": "Available",
        "to Owned": "Owned",
        "to Used": "Used",
        buy: "Owned",
        delete: "Deleted",
      },
      Owned: { open: "Used" },
      Used: {},
      Deleted: {},
    })
  })
})

import { assign, setup } from "xstate"
import { isoTime } from "../../schema/iso-time.ts"
import type { LootBoxStatus } from "../../schema/lootboxes/lootbox.ts"
import { effectActions } from "../effects.ts"
import {
  type BoxedId,
  boxClaims,
  boxEvents,
  boxGrants,
  boxReleases,
  changesOffer,
  type Passage,
} from "./effects.ts"

export interface LootboxInput {
  readonly id: string
  readonly typeId: string | null
  readonly ids: ReadonlyArray<BoxedId>
}

export interface LootboxContext extends LootboxInput {
  readonly ownerId: string | null
  /** The order that bought it. */
  readonly orderId: string | null
  readonly createdAt: string
  readonly openedAt: string | null
  readonly deletedAt: string | null
  readonly deletedFrom: LootBoxStatus | null
  /** When its contents were last changed while it was on sale. Boxes from before this was noted have none. */
  readonly revisedAt?: string | null
}

interface Change {
  readonly now: number
  readonly to: LootBoxStatus
  readonly ids: ReadonlyArray<BoxedId>
  readonly ownerId: string | null
  readonly pubkey: string | null
}

type LootboxEvent =
  | ({ readonly type: "CREATE" } & Change)
  | ({ readonly type: "REVISE" } & Change)
  | { readonly type: "BUY"; readonly now: number; readonly orderId: string; readonly buyerId: string }
  | { readonly type: "OPEN"; readonly now: number; readonly pubkey: string }
  | { readonly type: "DELETE"; readonly now: number }

interface At {
  readonly context: LootboxContext
  readonly event: LootboxEvent
}

const passageOf = ({ context, event }: At, from: Passage["from"], to: Passage["to"]): Passage => {
  const isChange = event.type === "CREATE" || event.type === "REVISE"
  return {
    boxId: context.id,
    from,
    to,
    before: from === "New" ? [] : context.ids,
    after: isChange ? event.ids : context.ids,
    ownerId: isChange ? event.ownerId : event.type === "BUY" ? event.buyerId : context.ownerId,
    pubkey: isChange || event.type === "OPEN" ? event.pubkey : null,
    orderId: event.type === "BUY" ? event.orderId : null,
  }
}

/** Everything a step does to the rest of the world, read before the step changes the box. */
const step = (from: Passage["from"], to: Passage["to"]) =>
  [
    { type: "claims", params: (at: At) => boxClaims(passageOf(at, from, to)) },
    { type: "releases", params: (at: At) => boxReleases(passageOf(at, from, to)) },
    { type: "grants", params: (at: At) => boxGrants(passageOf(at, from, to)) },
    { type: "events", params: (at: At) => boxEvents(passageOf(at, from, to)) },
    { type: "settle", params: { from, to } },
  ] as const

export const lootboxMachine = setup({
  types: { input: {} as LootboxInput, context: {} as LootboxContext, events: {} as LootboxEvent },
  actions: {
    ...effectActions,
    settle: assign(({ context, event }, { from, to }: Pick<Passage, "from" | "to">) => {
      const passage = passageOf({ context, event }, from, to)
      const { after, orderId, ownerId } = passage
      const at = isoTime(event.now)
      return {
        ids: after,
        ownerId,
        orderId: orderId ?? context.orderId,
        ...(from === "New" ? { createdAt: at } : {}),
        ...(to === "Used" ? { openedAt: at } : {}),
        ...(changesOffer(passage) ? { revisedAt: at } : {}),
        ...(to === "Deleted" && from !== "New" ? { deletedAt: at, deletedFrom: from } : {}),
      }
    }),
  },
  guards: {
    toDraft: ({ event }) => "to" in event && event.to === "Draft" && event.ownerId === null,
    toAvailable: ({ event }) =>
      "to" in event && event.to === "Available" && event.ownerId === null && event.ids.length > 0,
    toOwned: ({ event }) =>
      "to" in event && event.to === "Owned" && event.ownerId !== null && event.ids.length > 0,
    toUsed: ({ event }) =>
      "to" in event && event.to === "Used" && event.ownerId !== null && event.ids.length > 0,
  },
}).createMachine({
  id: "lootbox",
  initial: "New",
  context: ({ input }) => ({
    ...input,
    ownerId: null,
    orderId: null,
    createdAt: "",
    openedAt: null,
    deletedAt: null,
    deletedFrom: null,
    revisedAt: null,
  }),
  states: {
    /** Never stored: a box begins with its contents claimed. */
    New: {
      on: {
        CREATE: [
          { guard: "toDraft", target: "Draft", actions: step("New", "Draft") },
          { guard: "toAvailable", target: "Available", actions: step("New", "Available") },
          { guard: "toOwned", target: "Owned", actions: step("New", "Owned") },
          { guard: "toUsed", target: "Used", actions: step("New", "Used") },
        ],
      },
    },
    Draft: {
      on: {
        REVISE: [
          { guard: "toDraft", actions: step("Draft", "Draft") },
          { guard: "toAvailable", target: "Available", actions: step("Draft", "Available") },
          { guard: "toOwned", target: "Owned", actions: step("Draft", "Owned") },
          { guard: "toUsed", target: "Used", actions: step("Draft", "Used") },
        ],
        DELETE: { target: "Deleted", actions: step("Draft", "Deleted") },
      },
    },
    Available: {
      on: {
        REVISE: [
          { guard: "toAvailable", actions: step("Available", "Available") },
          { guard: "toOwned", target: "Owned", actions: step("Available", "Owned") },
          { guard: "toUsed", target: "Used", actions: step("Available", "Used") },
        ],
        BUY: { target: "Owned", actions: step("Available", "Owned") },
        DELETE: { target: "Deleted", actions: step("Available", "Deleted") },
      },
    },
    Owned: {
      on: { OPEN: { target: "Used", actions: step("Owned", "Used") } },
    },
    Used: {},
    Deleted: {},
  },
})

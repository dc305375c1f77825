import { assign, setup } from "xstate"
import { isoTime } from "../../schema/iso-time.ts"
import type { LootBoxStatus } from "../../schema/lootboxes/lootbox.ts"
import type { BoxedId, LootboxContext, LootboxInput } from "../../schema/lootboxes/lootbox-snapshot.ts"
import { effectActions } from "../effects.ts"
import { boxFaults } from "./box-rules.ts"
import { type BoxChange, boxClaims, boxEvents, boxGrants, boxReleases, changesOffer } from "./effects.ts"

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
  | { readonly type: "RETURN"; readonly now: number; readonly orderId: string; readonly buyerId: string }
  | { readonly type: "OPEN"; readonly now: number; readonly pubkey: string }
  | { readonly type: "DELETE"; readonly now: number }

interface Args {
  readonly context: LootboxContext
  readonly event: LootboxEvent
}

const changeOf = ({ context, event }: Args, from: BoxChange["from"], to: BoxChange["to"]): BoxChange => {
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

/**
 * A transition and all its effects. The action `apply` is the last one, because the other actions compute the effects
 * from the lootbox before the change.
 */
const step = <To extends BoxChange["to"]>(from: BoxChange["from"], to: To) =>
  ({
    target: to,
    actions: [
      { type: "claims", params: (args: Args) => boxClaims(changeOf(args, from, to)) },
      { type: "releases", params: (args: Args) => boxReleases(changeOf(args, from, to)) },
      { type: "grants", params: (args: Args) => boxGrants(changeOf(args, from, to)) },
      { type: "events", params: (args: Args) => boxEvents(changeOf(args, from, to)) },
      { type: "apply", params: { from, to } },
    ],
  }) as const

/**
 * One transition for each of these statuses. A transition runs if the administrator requests its status and the lootbox
 * violates no rule of this status.
 */
const stepToRequested = (from: BoxChange["from"], statuses: ReadonlyArray<LootBoxStatus>) =>
  statuses.map((to) => ({ ...step(from, to), guard: { type: "isRequested", params: to } }) as const)

export const lootboxMachine = setup({
  types: { input: {} as LootboxInput, context: {} as LootboxContext, events: {} as LootboxEvent },
  actions: {
    ...effectActions,
    apply: assign(({ context, event }, { from, to }: Pick<BoxChange, "from" | "to">) => {
      const change = changeOf({ context, event }, from, to)
      const { after, orderId, ownerId } = change
      const at = isoTime(event.now)
      return {
        ids: after,
        ownerId,
        orderId: orderId ?? context.orderId,
        ...(from === "New" ? { createdAt: at } : {}),
        ...(to === "Used" ? { openedAt: at } : {}),
        ...(changesOffer(change) ? { revisedAt: at } : {}),
        ...(to === "Deleted" && from !== "New" ? { deletedAt: at, deletedFrom: from } : {}),
      }
    }),
  },
  guards: {
    isSoldBy: ({ context, event }) =>
      event.type === "RETURN" && context.orderId === event.orderId && context.ownerId === event.buyerId,
    isRequested: ({ event }, to: LootBoxStatus) =>
      "to" in event &&
      event.to === to &&
      boxFaults(to, { hasOwner: event.ownerId !== null, size: event.ids.length }).length === 0,
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
    /** A lootbox in this state is never stored. The first turn leaves the state and claims the contents. */
    New: { on: { CREATE: stepToRequested("New", ["Draft", "Available", "Owned", "Used"]) } },
    Draft: {
      on: {
        REVISE: stepToRequested("Draft", ["Draft", "Available", "Owned", "Used"]),
        DELETE: step("Draft", "Deleted"),
      },
    },
    Available: {
      on: {
        REVISE: stepToRequested("Available", ["Available", "Owned", "Used"]),
        BUY: step("Available", "Owned"),
        DELETE: step("Available", "Deleted"),
      },
    },
    Owned: {
      on: {
        OPEN: step("Owned", "Used"),
        // The order of the lootbox was refunded. A lootbox never returns to an earlier status, so it is deleted, and
        // its ids can be bought again.
        RETURN: { ...step("Owned", "Deleted"), guard: "isSoldBy" },
      },
    },
    Used: { type: "final" },
    Deleted: { type: "final" },
  },
})

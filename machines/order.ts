import { assign, setup } from "xstate"
import { effectActions } from "./effects.ts"

export interface OrderItem {
  readonly id: string
  readonly emoji_id: string
  readonly unit_price_in_cents: number
  readonly rhythm_score: number
  readonly created_at: string
}

interface OrderContext {
  readonly id: string
  readonly userId: string
  readonly items: ReadonlyArray<OrderItem>
}

type OrderEvent =
  | { readonly type: "ADD_ITEMS"; readonly items: ReadonlyArray<OrderItem> }
  | { readonly type: "REMOVE_ITEM"; readonly itemId: string }
  | { readonly type: "CLEAR" }

const changed = {
  type: "events",
  params: ({ context }: { context: OrderContext }) => [
    { channel: `order:${context.id}`, type: "order.changed", data: { items: context.items.length } },
    { channel: `cart:${context.userId}`, type: "cart.changed", data: { order_id: context.id } },
  ],
} as const

export const orderMachine = setup({
  types: {
    input: {} as { readonly id: string; readonly userId: string },
    context: {} as OrderContext,
    events: {} as OrderEvent,
  },
  actions: effectActions,
  guards: {
    hasItem: ({ context, event }) =>
      event.type === "REMOVE_ITEM" && context.items.some((item) => item.id === event.itemId),
  },
}).createMachine({
  id: "order",
  initial: "Draft",
  context: ({ input }) => ({ id: input.id, userId: input.userId, items: [] }),
  states: {
    Draft: {
      on: {
        ADD_ITEMS: {
          actions: [assign({ items: ({ context, event }) => [...context.items, ...event.items] }), changed],
        },
        REMOVE_ITEM: {
          guard: "hasItem",
          actions: [
            assign({
              items: ({ context, event }) => context.items.filter((item) => item.id !== event.itemId),
            }),
            changed,
          ],
        },
        CLEAR: { actions: [assign({ items: [] }), changed] },
      },
    },
  },
})

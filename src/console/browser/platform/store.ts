import { ApiError } from "../../../client/api-error.ts"
import type { DisplayOrder, DisplayTransferRequest } from "../../../client/api-types.ts"
import { notify } from "../parts/notices.ts"
import { coalesced, signal } from "../parts/signal.ts"
import { call } from "./api.ts"
import { type Listener, subscribe } from "./live.ts"
import type { Answer } from "./request.ts"
import { account, client, loadAccount, sessionId } from "./session.ts"

/**
 * The cart, transfers and lootboxes of the user. When a live event reports a change, the current state is read again
 * from the service.
 */

export type CartItem = DisplayOrder["order_items"][number]

interface Cart {
  /** Undefined until the cart is loaded. */
  readonly order: DisplayOrder | undefined
  /** The items of the cart that has expired. */
  readonly expired: ReadonlyArray<CartItem> | undefined
}
interface Transfers {
  readonly outgoing: ReadonlyArray<DisplayTransferRequest>
  readonly sent: number
  readonly incoming: ReadonlyArray<DisplayTransferRequest>
  /** Whether the user must confirm the email address before transfers can be received. */
  readonly mustConfirm: boolean
}
interface Boxes {
  readonly mine: Answer<"GET /lootboxes">
  readonly onSale: Answer<"GET /lootboxes">
}

const noCart: Cart = { order: undefined, expired: undefined }
export const cart = signal(noCart)
export const transfers = signal<Transfers | undefined>(undefined)
export const boxes = signal<Boxes | undefined>(undefined)
/** Why the transfers or the lootboxes could not be loaded. Undefined after they were loaded. */
export const transfersFailure = signal<unknown>(undefined)
export const boxesFailure = signal<unknown>(undefined)
/** A counter that increases when the user receives ids or gives ids away. */
export const ownedChanges = signal(0)

const ownedChanged = () => ownedChanges.set(ownedChanges.value + 1)

let cartReads = 0

/** Loads the cart. If the previous cart expired, the service returns a new cart with its items. */
export const loadCart = async (): Promise<void> => {
  const read = ++cartReads
  const order = await call("GET /cart")
  if (read === cartReads) cart.set({ order, expired: undefined })
}

/** Shows the cart of an API response. */
export const showCart = (order: DisplayOrder): void => {
  cartReads++
  cart.set({ order, expired: undefined })
}

const readCart = coalesced(() => loadCart().catch(() => {}))

const memberOf = (data: unknown, name: string): unknown =>
  typeof data === "object" && data !== null ? (data as Record<string, unknown>)[name] : undefined

const cartListener: Listener = {
  onState: readCart,
  onEvent: (event, data) => {
    if (event === "cart.expired") {
      cartReads++
      const expired = cart.value.order?.order_items.filter((item) => item.item_type !== "Discount") ?? []
      cart.set({ order: undefined, expired })
      notify("Your cart expired because it was not paid in time. Its ids are available again.", "warn")
      return
    }
    if (event === "cart.expiring") notify("Your cart expires in less than one minute.", "warn")
    if (event === "cart.changed" && memberOf(data, "status") === "Paid") {
      notify("Payment received. Your purchase is complete.", "good")
      ownedChanged()
      loadAccount().catch(() => {})
    }
    readCart()
  },
}

/** Reads the incoming transfers. Returns undefined if the user must confirm the email address first. */
const readIncoming = () =>
  call("GET /transfers/incoming").catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 403) return undefined
    throw error
  })

const readTransfers = coalesced(async () => {
  try {
    const sent = call("GET /transfers", { query: { limit: 200 } })
    const [outgoing, incoming] = await Promise.all([sent, readIncoming()])
    transfers.set({
      outgoing: outgoing.data,
      sent: outgoing.paging.total,
      incoming: incoming ?? [],
      mustConfirm: incoming === undefined,
    })
    transfersFailure.set(undefined)
  } catch (error) {
    // After a failure, the next event or the next connection loads the transfers again.
    transfersFailure.set(error)
  }
})
export const loadTransfers = readTransfers

const transferMessages: Readonly<Record<string, string>> = {
  "transfer.created": "A transfer was started.",
  "transfer.sender_accepted": "The sender confirmed the transfer.",
  "transfer.accepted": "The transfer is complete.",
  "transfer.deleted": "A transfer was cancelled.",
  "transfer.expired": "A transfer expired.",
}

const transferListener: Listener = {
  onState: readTransfers,
  onEvent: (event) => {
    const message = transferMessages[event]
    if (message !== undefined) notify(message)
    if (event === "transfer.accepted") ownedChanged()
    readTransfers()
  },
}

const readBoxes = coalesced(async () => {
  try {
    const [mine, onSale] = await Promise.all([
      call("GET /lootboxes", { query: { owner_id: account.value?.user.id ?? "", limit: 200 } }),
      call("GET /lootboxes", { query: { status: "Available", limit: 200 } }),
    ])
    boxes.set({ mine, onSale })
    boxesFailure.set(undefined)
  } catch (error) {
    // After a failure, the next event or the next connection loads the lootboxes again.
    boxesFailure.set(error)
  }
})
export const loadBoxes = readBoxes

const boxListener: Listener = {
  onState: readBoxes,
  onEvent: (event) => {
    if (event === "lootbox.opened") ownedChanged()
    readBoxes()
  },
}

const sessionListener: Listener = {
  onEvent: (event, data) => {
    if (event !== "session.logged_out" || sessionId() === undefined) return
    // Without a session id the event concerns all sessions. Otherwise it may concern another session of the user.
    const ended = memberOf(data, "session_id")
    if (ended !== undefined && ended !== sessionId()) return
    // This tab may already have a new session. A renewal shows whether the tab is still signed in.
    client.renew().catch(() => {})
  },
}

const interestListener: Listener = {
  onEvent: (event, data) => {
    if (event === "interest.available")
      notify(`${String(memberOf(data, "emoji_id"))} is available now.`, "good")
  },
}

let userId: string | undefined
let confirmedAt: string | undefined
let stops: ReadonlyArray<() => void> = []

/** Subscribes to the channels of the signed-in user. */
export const startStore = (): void => {
  account.watch((current) => {
    const hasChanged = confirmedAt !== current?.user.email_verified_at
    confirmedAt = current?.user.email_verified_at
    if (current?.user.id === userId) {
      if (userId !== undefined && hasChanged) readTransfers()
      return
    }
    userId = current?.user.id
    for (const stop of stops) stop()
    stops = []
    cartReads++
    cart.set(noCart)
    transfers.set(undefined)
    boxes.set(undefined)
    transfersFailure.set(undefined)
    boxesFailure.set(undefined)
    if (userId === undefined) return
    stops = [
      subscribe("cart", cartListener),
      subscribe("transfers", transferListener),
      subscribe("lootboxes", boxListener),
      subscribe("session", sessionListener),
      subscribe("interests", interestListener),
    ]
  })
}

import { notify } from "../parts/notices.js"
import { coalesced, signal } from "../parts/signal.js"
import { get } from "./api.js"
import { Problem } from "./http.js"
import { subscribe } from "./live.js"
import { account, loadAccount, refresh, sessionId, tokens } from "./session.js"

/**
 * The cart, transfers and lootboxes of the user. When a live event reports a change, the current state is read again
 * from the service.
 */

/**
 * The cart of the user. `order` is undefined until the cart is loaded. After the cart expired, `expired` contains its
 * items.
 */
export const cart = signal({ order: undefined, expired: undefined })
export const transfers = signal(undefined)
export const boxes = signal(undefined)
/** A counter that increases when the user receives ids or gives ids away. */
export const ownedChanges = signal(0)

const ownedChanged = () => ownedChanges.set(ownedChanges.value + 1)

let cartReads = 0

/** Loads the cart. If the previous cart expired, the service returns a new cart with its items. */
export const loadCart = async () => {
  const read = ++cartReads
  const order = await get("/cart")
  if (read === cartReads) cart.set({ order, expired: undefined })
}

/** @param {any} order the cart from an API response */
export const showCart = (order) => {
  cartReads++
  cart.set({ order, expired: undefined })
}

const readCart = coalesced(() => loadCart().catch(() => {}))

const cartListener = {
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
    if (event === "cart.changed" && data.status === "Paid") {
      notify("Payment received. Your purchase is complete.", "good")
      ownedChanged()
      loadAccount().catch(() => {})
    }
    readCart()
  },
}

/** Reads the incoming transfers. Returns undefined if the user must confirm the email address first. */
const readIncoming = () =>
  get("/transfers/incoming").catch((error) => {
    if (error instanceof Problem && error.status === 403) return undefined
    throw error
  })

const readTransfers = coalesced(async () => {
  try {
    const [outgoing, incoming] = await Promise.all([get("/transfers?limit=200"), readIncoming()])
    transfers.set({
      outgoing: outgoing.data,
      sent: outgoing.paging.total,
      incoming: incoming ?? [],
      mustConfirm: incoming === undefined,
    })
  } catch {
    // After a failure, the next event or the next connection loads the transfers again.
  }
})

const transferMessages = {
  "transfer.created": "A transfer was started.",
  "transfer.sender_accepted": "The sender confirmed the transfer.",
  "transfer.accepted": "The transfer is complete.",
  "transfer.deleted": "A transfer was cancelled.",
  "transfer.expired": "A transfer expired.",
}

const transferListener = {
  onState: readTransfers,
  onEvent: (event) => {
    if (transferMessages[event]) notify(transferMessages[event])
    if (event === "transfer.accepted") ownedChanged()
    readTransfers()
  },
}

const readBoxes = coalesced(async () => {
  try {
    const [mine, onSale] = await Promise.all([
      get(`/lootboxes?owner_id=${account.value?.user.id ?? ""}&limit=200`),
      get("/lootboxes?status=Available&limit=200"),
    ])
    boxes.set({ mine, onSale })
  } catch {
    // After a failure, the next event or the next connection loads the lootboxes again.
  }
})
export const loadBoxes = readBoxes

const boxListener = {
  onState: readBoxes,
  onEvent: (event) => {
    if (event === "lootbox.opened") ownedChanged()
    readBoxes()
  },
}

const sessionListener = {
  onEvent: (event, { session_id }) => {
    if (event !== "session.logged_out" || tokens.value === undefined) return
    // Without a session id the event concerns all sessions. Otherwise it may concern another session of the user.
    if (session_id !== undefined && session_id !== sessionId()) return
    // This tab may already have a new session. A refresh shows whether the tab is still signed in.
    refresh().catch(() => {})
  },
}

const interestListener = {
  onEvent: (event, data) => {
    if (event === "interest.available") notify(`${data.emoji_id} is available now.`, "good")
  },
}

let userId
let confirmedAt
let stops = []

/** Subscribes to the channels of the signed-in user. */
export const startStore = () =>
  account.watch((current) => {
    const hasChanged = confirmedAt !== current?.user.email_verified_at
    confirmedAt = current?.user.email_verified_at
    if (current?.user.id === userId) {
      if (userId !== undefined && hasChanged) readTransfers()
      return
    }
    userId = current?.user.id
    for (const stop of stops.splice(0)) stop()
    cartReads++
    cart.set({ order: undefined, expired: undefined })
    transfers.set(undefined)
    boxes.set(undefined)
    if (userId === undefined) return
    stops = [
      subscribe("cart", cartListener),
      subscribe("transfers", transferListener),
      subscribe("lootboxes", boxListener),
      subscribe("session", sessionListener),
      subscribe("interests", interestListener),
    ]
  })

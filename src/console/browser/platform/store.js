import { notify } from "../parts/notices.js"
import { coalesced, signal } from "../parts/signal.js"
import { get } from "./api.js"
import { subscribe } from "./live.js"
import { account, loadAccount, refresh, sessionId, tokens } from "./session.js"

/**
 * What is the user's own, kept as the service has it: the live socket says that something changed, and what it is now is
 * asked for.
 */

/** `order` is undefined until it is known; `lost` are the items of a hold that ended. */
export const cart = signal({ order: undefined, lost: undefined })
export const transfers = signal(undefined)
export const boxes = signal(undefined)
/** Rises when ids came or went. */
export const ownedChanges = signal(0)

const ownedChanged = () => ownedChanges.set(ownedChanges.value + 1)

let cartReads = 0

/** Reading a cart whose hold has ended puts its items into a new one. */
export const loadCart = async () => {
  const read = ++cartReads
  const order = await get("/cart")
  if (read === cartReads) cart.set({ order, lost: undefined })
}

/** @param {any} order a cart as a call answered it */
export const showCart = (order) => {
  cartReads++
  cart.set({ order, lost: undefined })
}

const readCart = coalesced(() => loadCart().catch(() => {}))

const cartListener = {
  onState: readCart,
  onEvent: (event, data) => {
    if (event === "cart.expired") {
      cartReads++
      const lost = cart.value.order?.order_items.filter((item) => item.item_type !== "Discount") ?? []
      cart.set({ order: undefined, lost })
      notify("Time is up: the cart was not paid, and its ids are free again.", "warn")
      return
    }
    if (event === "cart.expiring") notify("The cart is held for less than a minute more.", "warn")
    if (event === "cart.changed" && data.status === "Paid") {
      notify("Paid. What you bought is yours.", "good")
      ownedChanged()
      loadAccount().catch(() => {})
    }
    readCart()
  },
}

const readTransfers = coalesced(async () => {
  try {
    const [outgoing, incoming] = await Promise.all([get("/transfers?limit=200"), get("/transfers/incoming")])
    transfers.set({ outgoing: outgoing.data, sent: outgoing.paging.total, incoming })
  } catch {
    // The next event, or the next connection, asks again.
  }
})

const transferWords = {
  "transfer.created": "A transfer has begun.",
  "transfer.sender_accepted": "The sender has confirmed the transfer.",
  "transfer.accepted": "The transfer is complete: the id has moved.",
  "transfer.deleted": "A transfer was called off.",
  "transfer.expired": "A transfer has expired.",
}

const transferListener = {
  onState: readTransfers,
  onEvent: (event) => {
    if (transferWords[event]) notify(transferWords[event])
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
    // As above.
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
    // Without a session it is about all of them; another one of the user's may end alone.
    if (session_id !== undefined && session_id !== sessionId()) return
    // It may have been replaced here by then; a refresh tells.
    refresh().catch(() => {})
  },
}

const interestListener = {
  onEvent: (event, data) => {
    if (event === "interest.available") notify(`${data.emoji_id} can be had now.`, "good")
  },
}

let userId
let stops = []

/** Follows whoever is signed in. */
export const startStore = () =>
  account.watch((current) => {
    if (current?.user.id === userId) return
    userId = current?.user.id
    for (const stop of stops.splice(0)) stop()
    cartReads++
    cart.set({ order: undefined, lost: undefined })
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

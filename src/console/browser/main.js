import { keepFocus } from "./focus.js"
import { actionButton } from "./parts/actions.js"
import { fill, h } from "./parts/dom.js"
import { notify } from "./parts/notices.js"
import { Life } from "./parts/signal.js"
import { explain, Problem } from "./platform/http.js"
import { liveState, startLive } from "./platform/live.js"
import { account, endLogin, resume } from "./platform/session.js"
import { cart, startStore, transfers } from "./platform/store.js"
import * as tab from "./tab.js"

/** The frame around the views: which one is shown, who is signed in, whether the socket is live. */

const views = {
  lookup: { label: "Look up", sign: "🔎", load: () => import("./lookup.js") },
  market: { label: "Market", sign: "🛍️", load: () => import("./market.js"), forUsers: true },
  cart: { label: "Cart", sign: "🛒", load: () => import("./cart.js"), forUsers: true },
  transfers: { label: "Transfers", sign: "📮", load: () => import("./transfers.js"), forUsers: true },
  boxes: { label: "Boxes", sign: "🎁", load: () => import("./boxes.js"), forUsers: true },
  account: { label: "Account", sign: "👤", load: () => import("./account/account.js"), forUsers: true },
  admin: {
    label: "Admin",
    sign: "🛠️",
    load: () => import("./admin/admin.js"),
    forUsers: true,
    forAdmins: true,
  },
  "sign-in": { load: () => import("./platform/sign-in.js") },
}

const main = document.getElementById("view")
const nav = document.getElementById("views")
const corner = document.getElementById("account")
const isAdmin = () => account.value?.role === "Admin" || account.value?.role === "Super"

/** Parts of an address that somebody may have cut off. @param {string} part */
const decode = (part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const here = () => {
  const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decode)
  return Object.hasOwn(views, name) ? { name, rest } : { name: "lookup", rest: [] }
}

const counts = {
  cart: () => cart.value.order?.order_items.filter((item) => item.item_type !== "Discount").length ?? 0,
  transfers: () =>
    transfers.value?.incoming.filter(({ status }) => status === "AwaitingReceiver").length ?? 0,
}

const drawNav = () => {
  nav.hidden = false
  const { name } = here()
  fill(
    nav,
    Object.entries(views)
      .filter(([, view]) => view.label && (!view.forAdmins || isAdmin()))
      .map(([key, view]) => {
        const count = account.value === undefined ? 0 : (counts[key]?.() ?? 0)
        return h(
          "a",
          { href: `#/${key}`, "aria-current": key === name && "page" },
          h("span", { class: "nav-sign", "aria-hidden": "true" }, view.sign),
          h("span", {}, view.label),
          count > 0 && h("span", { class: "count" }, count),
        )
      }),
  )
}

/** Whether a login ends because its person wants it to. */
let isLeaving = false

const signOut = async () => {
  isLeaving = true
  const ended = endLogin()
  isLeaving = false
  location.hash = "#/lookup"
  try {
    await ended
    notify("You are signed out everywhere.")
  } catch (error) {
    notify(`You are signed out here, but perhaps not elsewhere. ${explain(error)}`, "bad")
  }
}

const drawCorner = () =>
  fill(
    corner,
    account.value === undefined
      ? h("a", { class: "button", href: "#/sign-in" }, "Sign in")
      : [
          h(
            "span",
            { class: "signed-in soft small" },
            account.value.user.email ?? account.value.user.alternate_id,
          ),
          h("button", { class: "plain", onclick: signOut }, "Sign out"),
        ],
  )

const liveWords = { live: "Live", connecting: "Connecting", waiting: "Reconnecting" }
const drawLive = (state) => {
  const place = document.getElementById("live-state")
  place.dataset.state = state
  fill(place, liveWords[state])
}

let life = new Life()
let shown = 0
/** What to do about a view that could not be shown. @type {(() => unknown) | undefined} */
let tryAgain
let wasAway = false

/**
 * A view is a file of the service's too, which has no view of a page that is older than itself, and a browser asks for
 * one it did not get only in a new page.
 */
const loadView = (view) =>
  view.load().catch(() => {
    tryAgain = () => location.reload()
    throw new Problem(0, { error: "The service cannot be reached. Try again." })
  })

const afterKey = "console-after"

/** To the sign-in, in the place of what only users see. */
const askWho = () => {
  tab.remember(afterKey, location.hash)
  location.replace("#/sign-in")
}

/** From the sign-in to what was wanted before it. */
const goOn = () => {
  location.replace(tab.recall(afterKey) ?? "#/market")
  tab.forget(afterKey)
}

const show = async () => {
  tryAgain = undefined
  const { name, rest } = here()
  const view = views[name]
  life.end()
  const own = new Life()
  life = own
  const turn = ++shown
  drawNav()
  // In the place of what is left: the back button leads to what was seen before.
  if (view.forUsers && account.value === undefined) return askWho()
  // A mailed link may be another person's: that one is followed.
  if (name === "sign-in" && rest[0] !== "browser" && account.value !== undefined) return goOn()
  main.setAttribute("aria-busy", "true")
  try {
    const { draw } = await loadView(view)
    if (turn !== shown) return
    const root = h("div", { class: `view view-${name}` })
    const title = await draw(root, own, rest)
    if (turn !== shown) return
    fill(main, root)
    document.title = `${title} · Emoji Id Directory`
    const heading = root.querySelector("h1")
    heading?.setAttribute("tabindex", "-1")
    // Nothing is taken from whoever has just loaded the page; afterwards the new view speaks first.
    if (turn > 1) {
      heading?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
  } catch (error) {
    if (turn !== shown) return
    tryAgain ??= show
    document.title = "That did not work · Emoji Id Directory"
    fill(
      main,
      h("h1", { tabindex: "-1" }, "That did not work"),
      h("p", { class: "bad", role: "alert" }, explain(error)),
      actionButton("Try again", tryAgain),
    )
  } finally {
    if (turn === shown) main.removeAttribute("aria-busy")
  }
}

const start = async () => {
  await resume().catch((error) => notify(explain(error), "bad"))
  keepFocus()
  startLive()
  startStore()
  liveState.watch((state) => {
    drawLive(state)
    if (state === "waiting") wasAway = true
    if (state !== "live" || !wasAway) return
    // The service is back, so what it could not show may be shown now.
    wasAway = false
    tryAgain?.()
  })
  cart.watch(drawNav)
  transfers.watch(drawNav)
  let userId = account.value?.user.id
  account.watch((current) => {
    drawCorner()
    drawNav()
    // Another person sees another page.
    if (current?.user.id === userId) return
    userId = current?.user.id
    if (userId === undefined && !isLeaving) notify("You were signed out.", "warn")
    if (userId === undefined && views[here().name].forUsers) {
      if (isLeaving) location.hash = "#/lookup"
      else askWho()
    } else if (userId !== undefined && here().name === "sign-in") goOn()
    else show()
  })
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault()
    main.focus()
  })
  addEventListener("hashchange", show)
  addEventListener("online", () => tryAgain?.())
  await show()
}

start()

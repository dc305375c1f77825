import "../styles/console.css"
import { keepFocus } from "./focus.ts"
import { actionButton } from "./parts/actions.ts"
import { byId, fill, h } from "./parts/dom.ts"
import { type IconName, icon } from "./parts/icon.ts"
import { notify } from "./parts/notices.ts"
import { failure } from "./parts/retry.ts"
import { Lifetime } from "./parts/signal.ts"
import { explain, PageError } from "./platform/http.ts"
import { liveState, startLive } from "./platform/live.ts"
import { account, isSigningOut, resume, signOutEverywhere } from "./platform/session.ts"
import { cart, startStore, transfers } from "./platform/store.ts"
import * as tab from "./tab.ts"

/**
 * The frame around the views. It contains the navigation, the signed-in user, and the state of the live connection.
 */

export interface View {
  /** Draws the view and returns the title of the page. `rest` is the part of the URL after the name of the view. */
  readonly draw: (
    root: HTMLElement,
    lifetime: Lifetime,
    rest: ReadonlyArray<string>,
  ) => string | Promise<string>
}

interface Place {
  readonly load: () => Promise<View>
  /** The entry of the navigation. */
  readonly label?: string
  readonly sign?: IconName
  /** The entry of the navigation that is current while the view, which has no entry, is shown. */
  readonly within?: string
  readonly forUsers?: true
  /** Whether the navigation shows the entry only to signed-in users. */
  readonly isPersonal?: true
  readonly forAdmins?: true
}

const views: Readonly<Record<string, Place>> = {
  lookup: { label: "Look up", sign: "search", load: () => import("./lookup/lookup.ts") },
  market: { label: "Market", sign: "store", load: () => import("./buying/market.ts"), forUsers: true },
  ids: { label: "My ids", sign: "id-card", load: () => import("./ids.ts"), forUsers: true, isPersonal: true },
  cart: { label: "Cart", sign: "shopping-cart", load: () => import("./buying/cart.ts"), forUsers: true },
  orders: { load: () => import("./buying/orders.ts"), forUsers: true, within: "cart" },
  transfers: {
    label: "Transfers",
    sign: "arrow-left-right",
    load: () => import("./buying/transfers.ts"),
    forUsers: true,
  },
  boxes: { label: "Boxes", sign: "gift", load: () => import("./buying/boxes.ts"), forUsers: true },
  account: { load: () => import("./account/account.ts"), forUsers: true },
  admin: {
    label: "Admin",
    sign: "shield",
    load: () => import("./admin/admin.ts"),
    forUsers: true,
    forAdmins: true,
  },
  "sign-in": { load: () => import("./platform/sign-in.ts") },
}

const main = byId("view")
const nav = byId("views")
const corner = byId("account")
const isAdmin = () => account.value?.role === "Admin" || account.value?.role === "Super"

/** Decodes a part of the URL. If it has an invalid escape sequence, it is returned unchanged. */
const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const here = (): { readonly name: string; readonly view: Place; readonly rest: ReadonlyArray<string> } => {
  // A view reads its parameters after the question mark itself.
  const [path = ""] = location.hash.replace(/^#\/?/, "").split("?")
  const [name = "", ...rest] = path.split("/").map(decode)
  return Object.hasOwn(views, name)
    ? { name, view: views[name]!, rest }
    : { name: "lookup", view: views["lookup"]!, rest: [] }
}

const counts: Readonly<Record<string, () => number>> = {
  cart: () => cart.value.order?.order_items.filter((item) => item.item_type !== "Discount").length ?? 0,
  transfers: () =>
    transfers.value?.incoming.filter(({ status }) => status === "AwaitingReceiver").length ?? 0,
}

const drawNav = (): void => {
  nav.hidden = false
  const { name, view: shownView } = here()
  fill(
    nav,
    Object.entries(views)
      .filter(
        ([, view]) => view.label && (!view.forAdmins || isAdmin()) && (!view.isPersonal || account.value),
      )
      .map(([key, view]) => {
        const count = account.value === undefined ? 0 : (counts[key]?.() ?? 0)
        return h(
          "a",
          { href: `#/${key}`, "aria-current": key === name ? "page" : key === shownView.within && "true" },
          view.sign && icon(view.sign),
          h("span", {}, view.label),
          count > 0 && h("span", { class: "count" }, count),
        )
      }),
  )
}

const signOut = async (): Promise<void> => {
  location.hash = "#/lookup"
  try {
    await signOutEverywhere()
    notify("You are signed out on all devices.")
  } catch (error) {
    notify(`You are signed out here, but other devices may still be signed in. ${explain(error)}`, "bad")
  }
}

const drawCorner = (): void => {
  const { name } = here()
  fill(
    corner,
    account.value === undefined
      ? [
          h("a", { class: "register", href: "#/sign-in/register" }, "Register"),
          h("a", { class: "button", href: "#/sign-in" }, "Sign in"),
        ]
      : [
          h(
            "a",
            { class: "account-link", href: "#/account", "aria-current": name === "account" && "page" },
            icon("circle-user"),
            h("span", { class: "unseen" }, "Account "),
            h("span", { class: "signed-in" }, account.value.user.email ?? account.value.user.alternate_id),
          ),
          h("button", { class: "plain", onclick: signOut }, "Sign out"),
        ],
  )
}

const liveWords = { live: "Live", connecting: "Connecting", waiting: "Reconnecting" }
const drawLive = (state: keyof typeof liveWords): void => {
  const place = byId("live-state")
  place.dataset["state"] = state
  fill(place, liveWords[state])
  fill(
    byId("connection"),
    state === "waiting" && [
      icon("wifi-off"),
      h("span", {}, "Connection lost. What you see may be out of date. Reconnecting …"),
      // The live connection and a view that failed to load both try again when the browser is online.
      actionButton("Try now", () => dispatchEvent(new Event("online")), { class: "plain small" }),
    ],
  )
}

let lifetime = new Lifetime()
let shown = 0
/** Retries the view that could not be shown. Undefined if no view failed. */
let tryAgain: (() => unknown) | undefined
let wasOffline = false

/**
 * Loads the script of a view. This fails if the service is unreachable, or if the page is older than the deployed
 * release. A browser does not request a failed module again in the same page, so `tryAgain` reloads the page.
 */
const loadView = (view: Place): Promise<View> =>
  view.load().catch(() => {
    tryAgain = () => location.reload()
    throw new PageError("The service cannot be reached. Try again.")
  })

const afterKey = "console-after"

/**
 * Shows the sign-in view instead of a view that needs a user. Remembers the requested view, so that it can be shown
 * after the sign-in.
 */
const showSignIn = (): void => {
  tab.remember(afterKey, location.hash)
  location.replace("#/sign-in")
}

/** Shows the view that was requested before the sign-in, or the market if there was none. */
const continueAfterSignIn = (): void => {
  location.replace(tab.recall(afterKey) ?? "#/market")
  tab.forget(afterKey)
}

const show = async (): Promise<void> => {
  tryAgain = undefined
  const { name, rest, view } = here()
  lifetime.end()
  const own = new Lifetime()
  lifetime = own
  const turn = ++shown
  drawNav()
  drawCorner()
  // Until version 0.3, the ids were a page of the account.
  if (name === "account" && rest[0] === "ids")
    return location.replace(["#/ids", ...rest.slice(1).map(encodeURIComponent)].join("/"))
  // The sign-in view replaces the history entry of the requested view, so the back button returns to the view that was
  // shown before the requested view.
  if (view.forUsers && account.value === undefined) return showSignIn()
  // The path `sign-in/browser` is opened by a magic link. It is not skipped when a user is signed in, because the
  // link may belong to another user.
  if (name === "sign-in" && rest[0] !== "browser" && account.value !== undefined) return continueAfterSignIn()
  main.setAttribute("aria-busy", "true")
  try {
    const { draw } = await loadView(view)
    if (turn !== shown) return
    const root = h("div", { class: `view view-${name}` })
    const title = await draw(root, own, rest)
    if (turn !== shown) return
    const isTyping = document.activeElement?.matches("#view > form input")
    fill(main, root)
    // The user was typing into the form of the server's page, which this view has replaced.
    if (isTyping) root.querySelector<HTMLInputElement>("form input")?.focus()
    document.title = `${title} · Emoji Id Directory`
    const heading = root.querySelector("h1")
    heading?.setAttribute("tabindex", "-1")
    // The first view does not move the focus. Later views move it to their heading, so that screen readers announce
    // them.
    if (turn > 1) {
      heading?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
  } catch (error) {
    if (turn !== shown) return
    tryAgain ??= show
    document.title = "This page could not be loaded · Emoji Id Directory"
    fill(main, h("h1", { tabindex: "-1" }, "This page could not be loaded"), failure(error, tryAgain))
  } finally {
    if (turn === shown) main.removeAttribute("aria-busy")
  }
}

const start = async (): Promise<void> => {
  await resume().catch((error: unknown) => notify(explain(error), "bad"))
  keepFocus()
  startLive()
  startStore()
  liveState.watch((state) => {
    drawLive(state)
    if (state === "waiting") wasOffline = true
    if (state !== "live" || !wasOffline) return
    // The service is reachable again, so a view that failed to load is retried.
    wasOffline = false
    tryAgain?.()
  })
  cart.watch(drawNav)
  transfers.watch(drawNav)
  let userId = account.value?.user.id
  account.watch((current) => {
    drawCorner()
    drawNav()
    // The view is drawn again only for a different user.
    if (current?.user.id === userId) return
    userId = current?.user.id
    if (userId === undefined && !isSigningOut()) notify("You were signed out.", "warn")
    if (userId === undefined && here().view.forUsers) {
      if (isSigningOut()) location.hash = "#/lookup"
      else showSignIn()
    } else if (userId !== undefined && here().name === "sign-in") continueAfterSignIn()
    else show()
  })
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault()
    main.focus()
  })
  addEventListener("hashchange", show)
  addEventListener("online", () => tryAgain?.())
  await show()
}

start()

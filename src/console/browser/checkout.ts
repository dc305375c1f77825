import { byId } from "./parts/dom.ts"
import { call, callWith } from "./platform/api.ts"
import { loadCart, showCart } from "./platform/store.ts"

const returnUrl = () => `${location.origin}/#/cart`

/** Whether a payment method is configured. The service writes the payment methods into the page. */
const accepts = (method: string): boolean =>
  (byId("view").dataset["paymentMethods"] ?? "").split(" ").includes(method)

export const acceptsCards = () => accepts("CardCheckout")
export const acceptsCrypto = () => accepts("CryptoCommerce")

const openTab = (): Window | null => {
  const tab = window.open("about:blank", "_blank")
  if (tab !== null) tab.opener = null
  return tab
}

/**
 * Opens the link of the payment page from a script. A tab opened this way gets a copy of sessionStorage, so the user is
 * still signed in when the payment page redirects back to the console.
 */
export const followInTab = (event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void => {
  const { href } = event.currentTarget
  const tab = openTab()
  if (tab === null) return
  event.preventDefault()
  tab.location.href = href
}

const payWith = async (method: "CardCheckout" | "CryptoCommerce"): Promise<void> => {
  // The tab is opened before the request is sent. If it were opened after the response, the browser would block it as
  // a pop-up.
  let tab = openTab()
  const closeTab = () => {
    tab?.close()
    tab = null
  }
  const body = { method, success_url: returnUrl(), cancel_url: returnUrl() }
  try {
    // If the service requires a two-factor code, the tab is closed, because it would cover the dialog for the code.
    // The user's click in the dialog allows the script to open a new tab.
    const order = await callWith({ beforeCode: closeTab }, "POST /cart/checkout", { body })
    showCart(order)
    const url = order.payment_method_data?.checkout_url
    if (url === undefined) return closeTab()
    tab ??= openTab()
    if (tab !== null) tab.location.href = url
  } catch (error) {
    closeTab()
    await loadCart()
    throw error
  }
}

/** Opens the card payment page. If the order is pending with another method, the service replaces its payment. */
export const payByCard = (): Promise<void> => payWith("CardCheckout")
export const payWithCrypto = (): Promise<void> => payWith("CryptoCommerce")

export const checkOutFree = async (): Promise<void> => {
  try {
    showCart(await call("POST /cart/checkout", { body: { method: "Free" } }))
    await loadCart()
  } catch (error) {
    await loadCart()
    throw error
  }
}

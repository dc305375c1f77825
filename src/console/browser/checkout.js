import { call } from "./platform/api.js"
import { loadCart, showCart } from "./platform/store.js"

const returnUrl = () => `${location.origin}/#/cart`

/** Whether a payment method is configured. The service writes the payment methods into the page. */
const accepts = (method) => document.getElementById("view").dataset.paymentMethods.split(" ").includes(method)

export const acceptsCards = () => accepts("CardCheckout")
export const acceptsCrypto = () => accepts("CryptoCommerce")

const openTab = () => {
  const tab = window.open("about:blank", "_blank")
  if (tab !== null) tab.opener = null
  return tab
}

/**
 * Opens the link of the payment page from a script. A tab opened this way gets a copy of sessionStorage, so the user is
 * still signed in when the payment page redirects back to the console.
 * @param {MouseEvent} event
 */
export const followInTab = (event) => {
  const { href } = event.currentTarget
  const tab = openTab()
  if (tab === null) return
  event.preventDefault()
  tab.location = href
}

const payWith = async (method) => {
  // The tab is opened before the request is sent. If it were opened after the response, the browser would block it as
  // a pop-up.
  let tab = openTab()
  const closeTab = () => {
    tab?.close()
    tab = null
  }
  const checkout = { method, success_url: returnUrl(), cancel_url: returnUrl() }
  try {
    // If the service requires a two-factor code, the tab is closed, because it would cover the dialog for the code.
    // The user's click in the dialog allows the script to open a new tab.
    const order = await call("POST", "/cart/checkout", checkout, { beforeCode: closeTab })
    showCart(order)
    const url = order.payment_method_data?.checkout_url
    if (url === undefined) return closeTab()
    tab ??= openTab()
    if (tab !== null) tab.location = url
  } catch (error) {
    closeTab()
    await loadCart()
    throw error
  }
}

/** Opens the card payment page. If the order is pending with another method, the service replaces its payment. */
export const payByCard = () => payWith("CardCheckout")
export const payWithCrypto = () => payWith("CryptoCommerce")

export const checkOutFree = async () => {
  try {
    showCart(await call("POST", "/cart/checkout", { method: "Free" }))
    await loadCart()
  } catch (error) {
    await loadCart()
    throw error
  }
}

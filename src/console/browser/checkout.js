import { call } from "./platform/api.js"
import { loadCart, showCart } from "./platform/store.js"

const returnUrl = () => `${location.origin}/#/cart`

/** The service writes into the page what it can be paid with. */
export const takesCards = () =>
  document.getElementById("view").dataset.paymentMethods.split(" ").includes("CardCheckout")

const openTab = () => {
  const tab = window.open("about:blank", "_blank")
  if (tab !== null) tab.opener = null
  return tab
}

/** A tab that a link opens by itself would not know the login when the payment leads back there. @param {MouseEvent} event */
export const followInTab = (event) => {
  const { href } = event.currentTarget
  const tab = openTab()
  if (tab === null) return
  event.preventDefault()
  tab.location = href
}

export const payByCard = async () => {
  // The tab is opened before the answer is there: afterwards a browser would take it for an advertisement.
  let tab = openTab()
  const closeTab = () => {
    tab?.close()
    tab = null
  }
  const checkout = { method: "CardCheckout", success_url: returnUrl(), cancel_url: returnUrl() }
  try {
    // It would cover the dialog that asks for the code; confirming that allows another one.
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

export const takeFree = async () => {
  try {
    showCart(await call("POST", "/cart/checkout", { method: "Free" }))
    await loadCart()
  } catch (error) {
    await loadCart()
    throw error
  }
}

/**
 * Prevents a second submit of the same form. If a user presses the button again while waiting, the browser drops the
 * first response, for example a login or the confirmation of a purchase. So a pressed button has no effect until the
 * page is shown again, or until some time has passed.
 */

/** After this time a pressed button works again. It is longer than the service takes to respond. */
const releaseMs = 20_000

/** @type {Set<Element>} */
const pressed = new Set()

/** @param {Element} button */
const release = (button) => {
  pressed.delete(button)
  button.removeAttribute("aria-disabled")
}

addEventListener("submit", (event) => {
  const button = event.submitter
  if (event.target.method !== "post" || button === null) return
  if (pressed.has(button)) return event.preventDefault()
  pressed.add(button)
  button.setAttribute("aria-disabled", "true")
  setTimeout(() => release(button), releaseMs)
})

// The buttons also work again when the browser restores the page from its back/forward cache.
addEventListener("pageshow", () => {
  for (const button of [...pressed]) release(button)
})

/**
 * Whoever waits presses again, and a browser then forgets the first answer for the second: a login that came with it, or
 * the word that something was bought. So the same button does nothing more until the page is shown anew.
 */

/** Longer than the service takes for an answer; nobody is locked out who has stopped waiting for it. */
const patienceMs = 20_000

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
  setTimeout(() => release(button), patienceMs)
})

// Also when somebody comes back to it as they left it.
addEventListener("pageshow", () => {
  for (const button of [...pressed]) release(button)
})

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

/** A submit waits for the script of reCAPTCHA for at most this time. It is shorter than `releaseMs`. */
const scriptMs = 10_000
const pollMs = 50

/** The forms that have a reCAPTCHA response. A response can be used once. @type {Set<HTMLFormElement>} */
const proven = new Set()

const siteKey = document.querySelector('meta[name="recaptcha-site-key"]')?.getAttribute("content")

/**
 * Adds a reCAPTCHA response to the form, and submits the form. If reCAPTCHA is not available, the form is submitted
 * without a response, and the service shows the error.
 * @param {HTMLFormElement} form @param {HTMLElement} button
 */
const proveAndSubmit = async (form, button) => {
  proven.add(form)
  try {
    for (
      let waitedMs = 0;
      window.grecaptcha?.ready === undefined && waitedMs < scriptMs;
      waitedMs += pollMs
    ) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    await new Promise((resolve) => window.grecaptcha.ready(resolve))
    const input = document.createElement("input")
    input.type = "hidden"
    input.name = "g_recaptcha_response"
    input.value = await window.grecaptcha.execute(siteKey, { action: "login" })
    form.elements.namedItem(input.name)?.remove()
    form.append(input)
  } catch {
    // The form is submitted without a response.
  }
  release(button)
  // A form cannot be submitted while its earlier `submit` event is still dispatched.
  setTimeout(() => form.requestSubmit(button))
}

addEventListener("submit", (event) => {
  const button = event.submitter
  if (event.target.method !== "post" || button === null) return
  if (pressed.has(button)) return event.preventDefault()
  pressed.add(button)
  if (siteKey != null && event.target.dataset.human !== undefined && !proven.has(event.target)) {
    event.preventDefault()
    proveAndSubmit(event.target, button)
    return
  }
  button.setAttribute("aria-disabled", "true")
  setTimeout(() => release(button), releaseMs)
})

// The buttons also work again when the browser restores the page from its back/forward cache.
addEventListener("pageshow", () => {
  proven.clear()
  for (const button of [...pressed]) release(button)
})

import { Problem } from "./http.js"

const loadMs = 10_000
const pollMs = 50

const siteKey = () => document.querySelector('meta[name="recaptcha-site-key"]')?.getAttribute("content")

const unavailable = () =>
  new Problem(0, {
    error: "reCAPTCHA could not be loaded. Allow its scripts, reload the page and try again.",
  })

/** Waits for the script of the page to load. */
const loaded = async () => {
  for (let waitedMs = 0; waitedMs < loadMs; waitedMs += pollMs) {
    if (window.grecaptcha?.ready !== undefined) return window.grecaptcha
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw unavailable()
}

/**
 * Returns the member of a request that shows that a human sends it. Without RECAPTCHA_SITE_KEY it is empty.
 * @param {string} action the name of the operation, for the operator's statistics
 */
export const humanProof = async (action) => {
  const key = siteKey()
  if (key == null) return {}
  const api = await loaded()
  await new Promise((resolve) => api.ready(resolve))
  try {
    return { g_recaptcha_response: await api.execute(key, { action }) }
  } catch {
    throw unavailable()
  }
}

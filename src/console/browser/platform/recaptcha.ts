import { PageError } from "./http.ts"

const loadMs = 10_000
const pollMs = 50

interface Recaptcha {
  readonly ready: (then: () => void) => void
  readonly execute: (key: string, options: { readonly action: string }) => Promise<string>
}

const siteKey = () => document.querySelector('meta[name="recaptcha-site-key"]')?.getAttribute("content")

const unavailable = () =>
  new PageError("reCAPTCHA could not be loaded. Allow its scripts, reload the page and try again.")

/** Waits for the script of the page to load. */
const loaded = async (): Promise<Recaptcha> => {
  for (let waitedMs = 0; waitedMs < loadMs; waitedMs += pollMs) {
    const { grecaptcha } = window as { readonly grecaptcha?: Partial<Recaptcha> }
    if (grecaptcha?.ready !== undefined) return grecaptcha as Recaptcha
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw unavailable()
}

/**
 * Returns the member of a request that shows that a human sends it. Without RECAPTCHA_SITE_KEY it is empty. `action` is
 * the name of the operation, for the operator's statistics.
 */
export const humanProof = async (action: string): Promise<{ readonly g_recaptcha_response?: string }> => {
  const key = siteKey()
  if (key == null) return {}
  const api = await loaded()
  await new Promise<void>((resolve) => api.ready(resolve))
  try {
    return { g_recaptcha_response: await api.execute(key, { action }) }
  } catch {
    throw unavailable()
  }
}

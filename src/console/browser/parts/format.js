const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" })

/** @param {number} cents */
export const dollars = (cents) => money.format(cents / 100)

/** @param {string | undefined} iso */
export const when = (iso) => (iso ? moment.format(new Date(iso)) : "")

/** @param {string} iso */
export const clockTime = (iso) => clock.format(new Date(iso))

/** @param {number} milliseconds */
export const remaining = (milliseconds) => {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/** Converts a name such as `AwaitingSender` to "Awaiting sender". @param {string} name */
export const words = (name) => {
  const spaced = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ")
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase()
}

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`

const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" })

export const dollars = (cents: number): string => money.format(cents / 100)

export const when = (iso: string | null | undefined): string => (iso ? moment.format(new Date(iso)) : "")

export const clockTime = (iso: string): string => clock.format(new Date(iso))

export const remaining = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/** Converts a name such as `AwaitingSender` to "Awaiting sender". */
export const words = (name: string): string => {
  const spaced = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ")
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase()
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

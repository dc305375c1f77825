import { BoundedMap } from "../../../actors/bounded-map.ts"

const capacity = 100_000

interface Window {
  used: number
  readonly resetsAt: number
}

/** Fixed windows in this process's memory. When they are too many, the oldest is forgotten, which only forgives. */
export const makeLocalWindows = (now: () => number = () => performance.now()) => {
  const windows = new BoundedMap<Window>(capacity)

  return {
    take: (key: string, seconds: number, amount = 1) => {
      const at = now()
      let window = windows.get(key)
      if (window === undefined || window.resetsAt <= at) {
        window = { used: 0, resetsAt: at + seconds * 1000 }
        windows.renew(key, window)
      }
      window.used += amount
      return { key, used: window.used, resetsInSeconds: Math.ceil((window.resetsAt - at) / 1000) }
    },
  }
}

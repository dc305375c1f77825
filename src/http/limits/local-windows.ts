import { BoundedMap } from "../../../actors/bounded-map.ts"

const capacity = 100_000

interface Window {
  used: number
  readonly resetsAt: number
}

/**
 * Counts requests in fixed time windows, in the memory of this process. Above the capacity, the oldest window is
 * dropped, so its count starts again at 0.
 */
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

import { setTimeout as sleep } from "node:timers/promises"

const pollMs = 2

export const sleepSeconds = (seconds: number): Promise<void> => sleep(seconds * 1000)

/**
 * Waits until the condition holds, and then returns true. Returns false if it does not hold within the time limit.
 */
export async function waitUntil(holds: () => boolean, limitSeconds: number): Promise<boolean> {
  const deadlineMs = performance.now() + limitSeconds * 1000
  while (!holds()) {
    if (performance.now() >= deadlineMs) return false
    await sleep(pollMs)
  }
  return true
}

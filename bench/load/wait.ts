import { setTimeout as sleep } from "node:timers/promises"

const pollMs = 2

export const sleepSeconds = (seconds: number): Promise<void> => sleep(seconds * 1000)

/** Resolves when the condition holds or the time is up; says which. */
export async function waitUntil(holds: () => boolean, limitSeconds: number): Promise<boolean> {
  const giveUpAtMs = performance.now() + limitSeconds * 1000
  while (!holds()) {
    if (performance.now() >= giveUpAtMs) return false
    await sleep(pollMs)
  }
  return true
}

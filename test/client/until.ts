import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"

/** Waits for what is about to be. */
export const until = async (holds: () => boolean) => {
  for (let tries = 0; tries < 400 && !holds(); tries++) await sleep(25)
  expect(holds()).toBe(true)
}

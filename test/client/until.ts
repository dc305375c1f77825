import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { patienceMs } from "../fixtures/suite/patience.ts"

const pauseMs = 25

/** Waits for what is about to be, by real time also where a test sets the clock. */
export const until = async (holds: () => boolean) => {
  for (let waitedMs = 0; waitedMs < patienceMs && !holds(); waitedMs += pauseMs) await sleep(pauseMs)
  expect(holds()).toBe(true)
}

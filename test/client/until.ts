import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { patienceMs } from "../fixtures/suite/patience.ts"

const pauseMs = 25

/** Waits for a condition in real time, also in tests with fake timers. */
export const until = async (holds: () => boolean) => {
  for (let waitedMs = 0; waitedMs < patienceMs && !holds(); waitedMs += pauseMs) await sleep(pauseMs)
  expect(holds()).toBe(true)
}

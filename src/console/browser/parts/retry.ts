import { explain } from "../platform/http.ts"
import { liveState } from "../platform/live.ts"
import { actionButton } from "./actions.ts"
import { fill, h } from "./dom.ts"
import type { Lifetime } from "./signal.ts"

/** An error with a button that tries again. */
export const failure = (error: unknown, retry: () => unknown) =>
  h(
    "div",
    { class: "failure" },
    h("p", { class: "bad", role: "alert" }, explain(error)),
    actionButton("Try again", retry, { class: "plain" }),
  )

/**
 * Runs `load`, which fills `place`. If it fails, `place` shows the error with a button that tries again. `load` also
 * runs again when the connection to the service is back.
 */
export const loadInto = async (
  place: Element,
  lifetime: Lifetime,
  load: () => Promise<unknown>,
): Promise<void> => {
  let hasFailed = false
  const run = async (): Promise<void> => {
    hasFailed = false
    try {
      await load()
    } catch (error) {
      if (lifetime.hasEnded) return
      hasFailed = true
      fill(place, failure(error, run))
    }
  }
  let wasLost = false
  lifetime.onEnd(
    liveState.watch((state) => {
      if (state === "waiting") wasLost = true
      if (state !== "live" || !wasLost) return
      wasLost = false
      if (hasFailed) run()
    }),
  )
  await run()
}

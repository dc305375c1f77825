import { expect, it } from "vitest"
import { LiveSessions } from "../../src/live/socket-sessions.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const sessions = await service.runtime.runPromise(LiveSessions)

/**
 * Opens a session with a simulated socket. `unsent` and `sent` return the socket's byte counts. `look` counts how often
 * the service has asked for the unsent bytes.
 */
const reader = (unsent: (look: number) => number, sent: (look: number) => number = () => 0) => {
  let looks = 0
  let tellCut = () => {}
  const state = { isCut: false, looks: () => looks, cut: Promise.resolve() }
  state.cut = new Promise<void>((resolve) => {
    tellCut = resolve
  })
  const session = sessions.open({
    send: () => {},
    subscribe: () => {},
    unsubscribe: () => {},
    close: () => {},
    cut: () => {
      state.isCut = true
      session.closed()
      tellCut()
    },
    bufferedBytes: () => unsent(looks++),
    sentBytes: () => sent(looks),
  })
  session.receive(JSON.stringify({ type: "connect" }))
  return state
}

it("a socket that reads slowly stays connected, and a socket that stops reading is disconnected", async () => {
  const megabyte = 1024 * 1024
  const slow = reader((look) => Math.max(0, megabyte - look * 200 * 1024))
  const refilled = reader(
    () => megabyte,
    (look) => look * 200 * 1024,
  )
  const stalled = reader(() => megabyte)
  await stalled.cut
  expect(slow.isCut).toBe(false)
  // This socket reads for a while and stops before the end.
  const stopping = reader((look) => Math.max(megabyte / 2, megabyte - look * 200 * 1024))
  await stopping.cut
  expect([slow.isCut, refilled.isCut, stopping.looks() > 3]).toEqual([false, false, true])
})

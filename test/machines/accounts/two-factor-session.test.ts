import { describe, expect, it } from "vitest"
import { type EventFrom, initialTransition, transition } from "xstate"
import { isFresh, maxWrongCodes, sessionMachine } from "../../../machines/accounts/two-factor-session.ts"

type SessionEvent = EventFrom<typeof sessionMachine>

const input = { id: "s", userId: "u", epoch: 0 }
const open = (wants: string | null): SessionEvent => ({
  type: "OPEN",
  at: 0,
  expiresAt: 1000,
  wants,
  verifiedAt: null,
})

/** Applies the events in order. Throws if a state refuses an event. */
const run = (...events: ReadonlyArray<SessionEvent>) => {
  let [snapshot] = initialTransition(sessionMachine, input)
  const effects: Array<string> = []
  for (const event of events) {
    if (!snapshot.can(event)) throw new Error(`${snapshot.value} refuses ${event.type}`)
    const [next, actions] = transition(sessionMachine, snapshot, event)
    for (const action of actions) {
      const [published] = (action.params ?? []) as ReadonlyArray<{ readonly type: string }>
      if (action.type === "events" && published !== undefined) effects.push(published.type)
    }
    snapshot = next
  }
  return { snapshot, effects }
}
const wrong: SessionEvent = { type: "WRONG_CODE", at: 10, lockUntil: 500 }
const verify = (at: number): SessionEvent => ({ type: "VERIFY", at, expiresAt: at + 1000 })

describe("a session", () => {
  it("that needs no code is `Verified` immediately, but does not count as recently verified", () => {
    const { effects, snapshot } = run(open(null))
    expect(snapshot.value).toBe("Verified")
    expect(snapshot.context).toMatchObject({ admitted: true, generation: 1, verifiedAt: null })
    expect(isFresh(snapshot.context, 1, 900)).toBe(false)
    expect(effects).toEqual([])
  })

  it("that needs a code is `Pending` and publishes an event, and a correct code makes the session `Verified`", () => {
    const pending = run(open("SMS"))
    expect(pending.snapshot.value).toBe("Pending")
    expect(pending.effects).toEqual(["session.two_factor_required"])
    const { snapshot } = run(open("SMS"), verify(20))
    expect(snapshot.value).toBe("Verified")
    expect(snapshot.context).toMatchObject({ generation: 2, raisedByCode: true, expiresAt: 1020 })
    expect(isFresh(snapshot.context, 919, 900)).toBe(true)
    expect(isFresh(snapshot.context, 920, 900)).toBe(false)
  })

  it("is `Locked` after five wrong codes in a row, and accepts no code until the lock ends", () => {
    const four = Array<SessionEvent>(maxWrongCodes - 1).fill(wrong)
    expect(run(open("SMS"), ...four).snapshot.value).toBe("Pending")
    const { snapshot } = run(open("SMS"), ...four, wrong)
    expect(snapshot.value).toBe("Locked")
    expect(snapshot.can(verify(20))).toBe(false)
    expect(snapshot.can(wrong)).toBe(false)
    expect(snapshot.can({ type: "DUE", at: 499 })).toBe(false)
    const unlocked = run(open("SMS"), ...four, wrong, { type: "DUE", at: 500 })
    expect(unlocked.snapshot.value).toBe("Pending")
    expect(unlocked.snapshot.context).toMatchObject({ wrongCodes: 0, lockedUntil: null })
  })

  it("is `Verified` after a lock if it was `Verified` before, and a correct code resets the count of wrong codes", () => {
    const five = Array<SessionEvent>(maxWrongCodes).fill(wrong)
    const { snapshot } = run(open("SMS"), verify(20), ...five, { type: "DUE", at: 500 })
    expect(snapshot.value).toBe("Verified")
    const counted = run(open("SMS"), wrong, wrong, verify(20))
    expect(counted.snapshot.context.wrongCodes).toBe(0)
  })

  it("accepts the event `ADMIT` while it is `Pending` but not when it is `Verified`, and refuses `PROVE` while it is `Pending`", () => {
    const admit: SessionEvent = { type: "ADMIT", at: 30, expiresAt: 2000 }
    expect(run(open("SMS"), admit).snapshot.value).toBe("Verified")
    expect(run(open(null)).snapshot.can(admit)).toBe(false)
    expect(run(open("SMS")).snapshot.can({ type: "PROVE", at: 30 })).toBe(false)
  })

  it("that is `Revoked` or `Expired` can be neither verified nor rotated nor revoked again", () => {
    const revoked = run(open(null), { type: "REVOKE", reason: "test" })
    expect(revoked.effects).toEqual(["session.logged_out"])
    const expired = run(open(null), { type: "DUE", at: 1000 })
    expect([revoked.snapshot.value, expired.snapshot.value]).toEqual(["Revoked", "Expired"])
    for (const { snapshot } of [revoked, expired]) {
      expect(snapshot.can(verify(20))).toBe(false)
      expect(snapshot.can({ type: "ROTATE", at: 20, expiresAt: 2000 })).toBe(false)
      expect(snapshot.can({ type: "REVOKE", reason: "again" })).toBe(false)
    }
  })
})

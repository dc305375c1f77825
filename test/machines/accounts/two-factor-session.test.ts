import { describe, expect, it } from "vitest"
import { type EventFrom, initialTransition, transition } from "xstate"
import { isFresh, sessionMachine } from "../../../machines/accounts/two-factor-session.ts"

type SessionEvent = EventFrom<typeof sessionMachine>

const input = { id: "s", userId: "u", epoch: 0 }
const device = { name: "curl/8.5.0", address: "192.0.2.1" }
const open = (wants: string | null): SessionEvent => ({
  type: "OPEN",
  at: 0,
  expiresAt: 1000,
  device,
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
const lock: SessionEvent = { type: "LOCK", until: 500 }
const verify = (at: number): SessionEvent => ({ type: "VERIFY", at, expiresAt: at + 1000, device })

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

  it("is `Locked` and publishes an event when the account is locked, and is `Pending` again when the lock ends", () => {
    const { effects, snapshot } = run(open("SMS"), lock)
    expect(snapshot.value).toBe("Locked")
    expect(snapshot.context.lockedUntil).toBe(500)
    expect(effects).toEqual(["session.two_factor_required", "session.two_factor_locked"])
    expect(snapshot.can({ type: "DUE", at: 499 })).toBe(false)
    expect(snapshot.can({ type: "PROVE", at: 30 })).toBe(false)
    const unlocked = run(open("SMS"), lock, { type: "DUE", at: 500 })
    expect(unlocked.snapshot.value).toBe("Pending")
    expect(unlocked.snapshot.context.lockedUntil).toBe(null)
  })

  it("that was `Verified` stays fresh while it is `Locked`, and is `Verified` again when the lock ends", () => {
    const locked = run(open("SMS"), verify(20), lock)
    expect(locked.snapshot.value).toBe("Locked")
    expect(isFresh(locked.snapshot.context, 400, 900)).toBe(true)
    expect(run(open("SMS"), verify(20), lock, { type: "DUE", at: 500 }).snapshot.value).toBe("Verified")
    expect(run(open("SMS"), verify(20), lock, { type: "PROVE", at: 30 }).snapshot.value).toBe("Verified")
  })

  it("that is `Locked` is `Verified` by a correct code, because codes are checked only after the account's lock", () => {
    const { snapshot } = run(open("SMS"), lock, verify(600))
    expect(snapshot.value).toBe("Verified")
    expect(snapshot.context).toMatchObject({ lockedUntil: null, verifiedAt: 600, admitted: true })
  })

  it("stores the device of its last token rotation", () => {
    const phone = { name: "Safari on iPhone", address: "2001:db8::1" }
    expect(run(open(null)).snapshot.context.device).toEqual(device)
    const { snapshot } = run(open(null), { type: "ROTATE", at: 20, expiresAt: 2000, device: phone })
    expect(snapshot.context.device).toEqual(phone)
  })

  it("accepts the event `ADMIT` while it is `Pending` but not when it is `Verified`, and refuses `PROVE` while it is `Pending`", () => {
    const admit: SessionEvent = { type: "ADMIT", at: 30, expiresAt: 2000, device }
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
      expect(snapshot.can({ type: "ROTATE", at: 20, expiresAt: 2000, device })).toBe(false)
      expect(snapshot.can({ type: "REVOKE", reason: "again" })).toBe(false)
    }
  })
})

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
const rotate: SessionEvent = { type: "ROTATE", at: 30, expiresAt: 2000, device }
const admit: SessionEvent = { type: "ADMIT", at: 30, expiresAt: 2000, device }
const due = (at: number): SessionEvent => ({ type: "DUE", at, graceMs: 900 })
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
    expect(snapshot.can(due(499))).toBe(false)
    expect(snapshot.can({ type: "PROVE", at: 30 })).toBe(false)
    const unlocked = run(open("SMS"), lock, due(500))
    expect(unlocked.snapshot.value).toBe("Pending")
    expect(unlocked.snapshot.context.lockedUntil).toBe(null)
  })

  it("that was `Verified` stays fresh while it is `Locked`, and is `Verified` again when the lock ends", () => {
    const locked = run(open("SMS"), verify(20), lock)
    expect(locked.snapshot.value).toBe("Locked")
    expect(isFresh(locked.snapshot.context, 400, 900)).toBe(true)
    expect(run(open("SMS"), verify(20), lock, due(500)).snapshot.value).toBe("Verified")
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
    const { snapshot } = run(open(null), { type: "ADMIT", at: 20, expiresAt: 2000, device: phone })
    expect(snapshot.context.device).toEqual(phone)
  })

  it("that is `Pending` accepts the event `ADMIT` and refuses `PROVE`", () => {
    expect(run(open("SMS"), admit).snapshot.value).toBe("Verified")
    expect(run(open("SMS")).snapshot.can({ type: "PROVE", at: 30 })).toBe(false)
  })

  it("becomes `Stale` when the grace period of its code ends, publishes that, and a new code makes it `Verified`", () => {
    const early = run(open("SMS"), verify(20)).snapshot
    expect(early.can(due(919))).toBe(false)
    const { effects, snapshot } = run(open("SMS"), verify(20), due(920))
    expect(snapshot.value).toBe("Stale")
    expect(effects).toEqual(["session.two_factor_required", "session.verified", "session.two_factor_stale"])
    const again = run(open("SMS"), verify(20), due(920), verify(950))
    expect(again.snapshot.value).toBe("Verified")
    expect(again.effects.at(-1)).toBe("session.verified")
    expect(isFresh(again.snapshot.context, 951, 900)).toBe(true)
  })

  it("becomes `Stale` when the user enables two-factor authentication in another session, or at its next refresh", () => {
    expect(run(open(null), { type: "FACTOR_ENABLED" }).snapshot.value).toBe("Stale")
    expect(run(open(null), rotate).snapshot.value).toBe("Stale")
    expect(run(open("SMS"), verify(20)).snapshot.can({ type: "FACTOR_ENABLED" })).toBe(false)
    expect(run(open("SMS"), verify(20), rotate).snapshot.value).toBe("Verified")
  })

  it("is not `Stale` any more after the user has disabled two-factor authentication", () => {
    for (const event of [{ type: "FACTOR_DISABLED" }, admit] as const) {
      const { effects, snapshot } = run(open("SMS"), verify(20), due(920), event)
      expect(snapshot.value).toBe("Verified")
      expect(snapshot.context.verifiedAt).toBe(null)
      expect(effects.at(-1)).toBe("session.verified")
    }
    const released = run(open("SMS"), verify(20), { type: "FACTOR_DISABLED" }).snapshot
    expect(released.can(due(920))).toBe(false)
  })

  it("is `Stale` after a lock if its grace period has ended meanwhile, and otherwise `Verified`", () => {
    const long: SessionEvent = { type: "LOCK", until: 950 }
    expect(run(open("SMS"), verify(20), long, due(950)).snapshot.value).toBe("Stale")
    expect(run(open("SMS"), verify(20), lock, due(500)).snapshot.value).toBe("Verified")
    expect(run(open(null), { type: "FACTOR_ENABLED" }, lock, due(500)).snapshot.value).toBe("Stale")
  })

  it("stays `Stale` while its tokens are rotated, and expires", () => {
    const { snapshot } = run(open("SMS"), verify(20), due(920), rotate)
    expect(snapshot.value).toBe("Stale")
    expect(run(open("SMS"), verify(20), due(920), due(1020)).snapshot.value).toBe("Expired")
  })

  it("accepts a deadline long before the end of the grace period without a change, so that the right one is stored", () => {
    const early: SessionEvent = { type: "DUE", at: 30, graceMs: 5000 }
    const before = run(open("SMS"), verify(20))
    const { effects, snapshot } = run(open("SMS"), verify(20), early)
    expect([snapshot.value, snapshot.context]).toEqual(["Verified", before.snapshot.context])
    expect(effects).toEqual(before.effects)
  })

  it("that is `Revoked` or `Expired` can be neither verified nor rotated nor revoked again", () => {
    const revoked = run(open(null), { type: "REVOKE", reason: "test" })
    expect(revoked.effects).toEqual(["session.logged_out"])
    const expired = run(open(null), due(1000))
    expect([revoked.snapshot.value, expired.snapshot.value]).toEqual(["Revoked", "Expired"])
    for (const { snapshot } of [revoked, expired]) {
      expect(snapshot.can(verify(20))).toBe(false)
      expect(snapshot.can({ type: "ROTATE", at: 20, expiresAt: 2000, device })).toBe(false)
      expect(snapshot.can({ type: "REVOKE", reason: "again" })).toBe(false)
    }
  })
})

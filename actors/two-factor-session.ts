import { Context, type Effect, Layer } from "effect"
import type { SnapshotFrom } from "xstate"
import { sessionMachine } from "../machines/accounts/two-factor-session.ts"
import { SessionContext } from "../schema/accounts/session-snapshot.ts"
import { isoTime } from "../schema/iso-time.ts"
import { makeHost } from "./host.ts"

interface SessionOptions {
  /** How long a verified second factor is recent enough for sensitive operations. */
  readonly graceMs: number
}

/** Only sessions with a verified second factor have a deadline before their expiry, one for each verified code. */
const dueAt = ({ context, value }: SnapshotFrom<typeof sessionMachine>, graceMs: number): number => {
  const { expiresAt, lockedUntil, verifiedAt } = context
  if (value === "Locked") return Math.min(expiresAt, lockedUntil ?? expiresAt)
  return value === "Verified" && verifiedAt !== null ? Math.min(expiresAt, verifiedAt + graceMs) : expiresAt
}

const isStoredStale = ({ stale, verifiedAt }: SessionContext): boolean =>
  stale != null && stale.verifiedAt === verifiedAt

const make = ({ graceMs }: SessionOptions) =>
  makeHost({
    entity: "session",
    machine: sessionMachine,
    format: {
      version: 1,
      context: SessionContext,
      states: {
        write: (value) => (value === "Stale" ? "Verified" : value),
        read: (value, context) => (value === "Verified" && isStoredStale(context) ? "Stale" : value),
      },
    },
    columns: (snapshot) => ({
      status: snapshot.value,
      owner_id: snapshot.context.userId,
      peer_id: null,
      subject: null,
      due_at: snapshot.status === "active" ? isoTime(dueAt(snapshot, graceMs)) : null,
    }),
    dueEvent: (at) => ({ type: "DUE", at, graceMs }) as const,
  })

/**
 * One actor per login session. The state contains the second factor's verification and the refresh token's
 * generation.
 */
export class SessionActors extends Context.Service<SessionActors, Effect.Success<ReturnType<typeof make>>>()(
  "directory/SessionActors",
) {
  static readonly layer = (options: SessionOptions) => Layer.effect(SessionActors, make(options))
}

import { Context, type Effect, Layer } from "effect"
import { sessionMachine } from "../machines/accounts/two-factor-session.ts"
import { SessionContext } from "../schema/accounts/session-snapshot.ts"
import { isoTime } from "../schema/iso-time.ts"
import { makeHost } from "./host.ts"

const make = makeHost({
  entity: "session",
  machine: sessionMachine,
  format: { version: 1, context: SessionContext },
  columns: ({ context, status, value }) => ({
    status: value,
    owner_id: context.userId,
    peer_id: null,
    subject: null,
    due_at:
      status === "active"
        ? isoTime(Math.min(context.expiresAt, context.lockedUntil ?? context.expiresAt))
        : null,
  }),
  dueEvent: (at) => ({ type: "DUE", at }) as const,
})

/**
 * One actor per login session. The state contains the second factor's verification and the refresh token's
 * generation.
 */
export class SessionActors extends Context.Service<SessionActors, Effect.Success<typeof make>>()(
  "directory/SessionActors",
) {
  static readonly layer = Layer.effect(SessionActors, make)
}

import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { CurrentOperation, type Operation } from "../../../actors/operation.ts"
import {
  factsOf,
  type SecurityEventName,
  type SecurityLogEntry,
  securityEvents,
} from "../../../schema/accounts/security-event.ts"
import type { Unavailable } from "../../../schema/errors.ts"
import type { CountedPage, PageRequest } from "../../../schema/paging.ts"
import { type Origin, RequestOrigin } from "../../http/request/request-origin.ts"
import { uuidOf } from "../../turns/operation-key.ts"
import { makeSecurityLogStore, type StoredEntry } from "./security-log-store.ts"

/** A security event. The actor, the address and the user agent come from the current request. */
export interface SecurityEvent {
  readonly event: SecurityEventName
  /** The affected user. Undefined if there is none, for example a login with an unknown email. */
  readonly userId: string | undefined
  /** Facts about the event, such as the id of an API key. They must not contain a secret. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
  /** The actor, if it is not the authenticated caller. A login makes the user the actor. */
  readonly actorId?: string
}

type Readers = "owner" | "administrators"

const actorOf = (userId: string, { actor_id, via }: StoredEntry): SecurityLogEntry["actor"] => {
  if (actor_id === userId) return "self"
  if (actor_id !== null) return "administrator"
  if (via === "command_line") return "operator"
  return via === "service" ? "service" : "anonymous"
}

/** Returns an entry for the owner of the log or for administrators. The owner does not see data of other people. */
const display = (userId: string, entry: StoredEntry, readers: Readers): SecurityLogEntry => {
  const actor = actorOf(userId, entry)
  const { actor_id, address, count, created_at, details, event, id, last_at, user_agent } = entry
  const isVisible = readers === "administrators" || actor !== "administrator"
  return {
    id,
    event,
    // During an upgrade, an older process can read an event that only newer ones know.
    text: securityEvents[event]?.text ?? event,
    created_at,
    last_at,
    count,
    actor,
    ...(readers === "administrators" && actor_id !== null ? { actor_id } : {}),
    ...(isVisible && address !== null ? { address } : {}),
    ...(isVisible && user_agent !== null ? { user_agent } : {}),
    details,
  }
}

/** Returns the log line of an event. Operators search by these members, so their names never change. */
const lineOf = (
  { details, event, userId }: SecurityEvent,
  actorId: string | null,
  { address, requestId, userAgent, via }: Origin,
) => ({
  event,
  actor: actorId,
  subject: userId ?? null,
  via,
  address,
  user_agent: userAgent,
  request_id: requestId,
  ...details,
})

/**
 * The id of an entry. The entries of a request with an Idempotency-Key have fixed ids, so they are stored once, although
 * a retry after a crash records them again.
 */
const entryId = (operation: Operation | undefined, { details, event, userId }: SecurityEvent): string =>
  operation === undefined
    ? randomUUID()
    : uuidOf("security log", operation.run, event, userId ?? "", JSON.stringify(details ?? {}))

/**
 * Records security events: each one is a log line, and most are also entries in the user's security log. Other modules
 * call `record` after their change is committed.
 */
export class SecurityLog extends Context.Service<
  SecurityLog,
  {
    /**
     * Records an event. It never fails, because the change that it reports is already committed. When it returns, the
     * entry is stored, except for events with `isBackground`.
     */
    record(event: SecurityEvent): Effect.Effect<void>
    list(
      userId: string,
      page: PageRequest,
      readers: Readers,
    ): Effect.Effect<CountedPage<SecurityLogEntry>, Unavailable>
  }
>()("directory/SecurityLog") {
  static readonly layer = Layer.effect(
    SecurityLog,
    Effect.gen(function* () {
      const store = yield* makeSecurityLogStore
      const scope = yield* Effect.scope

      return SecurityLog.of({
        record: Effect.fnUntraced(function* (event) {
          const origin = yield* RequestOrigin
          const operation = yield* CurrentOperation
          const { isBackground, isFailure, most } = factsOf(event.event)
          const actorId = event.actorId ?? origin.userId
          const line = lineOf(event, actorId, origin)
          yield* isFailure ? Effect.logWarning(line) : Effect.logInfo(line)
          if (most === undefined || event.userId === undefined) return
          const stored = store
            .put({
              id: entryId(operation, event),
              user_id: event.userId,
              event: event.event,
              most,
              actor_id: actorId,
              via: origin.via,
              address: origin.address || null,
              user_agent: origin.userAgent || null,
              request_id: origin.requestId || null,
              details: event.details ?? {},
            })
            .pipe(
              Effect.catchCause((cause) =>
                Effect.logError("security log entry was not stored", { event: event.event }, cause),
              ),
            )
          yield* isBackground ? Effect.forkIn(stored, scope) : stored
        }),
        list: (userId, page, readers) =>
          Effect.map(store.list(userId, page), (found) => ({
            ...found,
            rows: found.rows.map((entry) => display(userId, entry, readers)),
          })),
      })
    }),
  )
}

/** Records an event from a handler. See `SecurityLog.record`. */
export const recordEvent = (event: SecurityEvent) => SecurityLog.use((log) => log.record(event))

import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { type Role, rolesUpTo } from "../../schema/accounts/scope.ts"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { DeletedUser } from "../../schema/accounts/user-update.ts"
import {
  Conflict,
  Forbidden,
  type NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import type { Client } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql, type Statement } from "../postgres/sql.ts"
import type { OutboxRow } from "../turns/outbox.ts"
import { CallerCache } from "./caller-cache.ts"
import { uniquenessOf } from "./registration.ts"
import { SecurityLog } from "./security-log/security-log.ts"
import { eventsOfChange, type UserFacts } from "./security-log/user-change-events.ts"
import { noUser } from "./user-list-store.ts"

/** The fields of a user to change. Omitted fields do not change. */
export interface UserChanges {
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly source?: string
  readonly free_limit?: number
  readonly role?: Role
  readonly password_hash?: string
  readonly active?: boolean
  readonly revoke_api_keys?: boolean
  readonly mail?: ReadonlyArray<OutboxRow>
}

interface Event {
  readonly channel: string
}
interface Changed {
  readonly user: DisplayUser
  readonly events: ReadonlyArray<Event>
}
type Removed =
  | { readonly held: Record<string, ReadonlyArray<string>> }
  | {
      readonly user: DisplayUser
      readonly kept: ReadonlyArray<string>
      readonly events: ReadonlyArray<Event>
    }
/** A refused change: the user's role is above the caller's, or the user is the last administrator. */
type Refusal = { readonly role: Role; readonly last_admin?: true }
type Outcome<A> = Refusal | A | null

/** The result of a change. It has an accepted outcome: a refused change fails before. */
type UserUpdated = WriteOutcome<
  { readonly outcome: Outcome<Changed>; readonly before: UserFacts | null },
  { readonly id: string; readonly changes: Partial<UserFacts> & { readonly hasNewPassword: boolean } }
>
type FactorsRemoved = WriteOutcome<{ readonly outcome: Outcome<Changed> }, { readonly id: string }>
type UserRemoved = WriteOutcome<{ readonly outcome: Outcome<Removed> }, { readonly id: string }>

const refused = ({ last_admin, role }: Refusal) =>
  last_admin
    ? new Conflict({ error: "This user is the last administrator. Give another user the role Admin first." })
    : new Forbidden({
        error: `You cannot change a user with the role ${role}, because it is above your own role.`,
      })
const isAccepted = (q: Client) => q`effect.outcome ? 'user'`
const isEmpty = (held: Readonly<Record<string, ReadonlyArray<string>>>, name: string) =>
  (held[name]?.length ?? 0) === 0

const stillHeld = (held: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const what = Object.keys(held).filter((name) => !isEmpty(held, name))
  return new Conflict({
    error: `The account cannot be deleted because it still has ${what.map((name) => name.replace("_", " ")).join(", ")}. Transfer the ids, open the lootboxes, finish or cancel orders and transfers, have unspent payments refunded, and give each organization another owner.`,
    details: { held },
  })
}

/** Administers users. When a call returns, its change has taken effect in all processes. */
export class UserAdmin extends Context.Service<
  UserAdmin,
  {
    /**
     * Creates a user with a custodial key, whose email counts as confirmed. The caller must be sure that the address is correct. Returns
     * the id.
     */
    create(facts: {
      readonly id?: string
      readonly email: string
      readonly role: Role
      readonly passwordHash: string
    }): Effect.Effect<string, Unprocessable | Unavailable>
    /**
     * Changes a user. `by` is the caller's role. Fails if the user has a higher role, or if no administrator would
     * remain.
     */
    update(
      id: string,
      changes: UserChanges,
      by: Role,
    ): Effect.Effect<Written<UserUpdated>, NotFound | Forbidden | Conflict | Unprocessable | Unavailable>
    /** Publishes and records the changes, and returns the changed user. */
    updated(done: UserUpdated): Effect.Effect<DisplayUser>
    /** Removes all second factors of the user. If there were any, also ends the user's sessions. */
    removeTwoFactor(
      id: string,
      by: Role,
    ): Effect.Effect<Written<FactorsRemoved>, NotFound | Forbidden | Unavailable>
    /** Publishes and records that the second factors were removed, and returns the user. */
    twoFactorRemoved(done: FactorsRemoved): Effect.Effect<DisplayUser>
    /**
     * Deletes a user. Without `insists`, this fails while the user holds anything, for example ids or pending orders.
     * With it, the user's ids stay reserved under the anonymous account that remains.
     */
    remove(
      id: string,
      options: { readonly by: Role; readonly insists: boolean },
    ): Effect.Effect<Written<UserRemoved>, NotFound | Forbidden | Conflict | Unavailable>
    /** Deletes a user of the demo data, who may be the last administrator. */
    removeDemo(
      id: string,
      by: Role,
    ): Effect.Effect<Written<UserRemoved>, NotFound | Forbidden | Conflict | Unavailable>
    /** Publishes and records the deletion, and returns the user with the ids that stay reserved. */
    removed(done: UserRemoved): Effect.Effect<DeletedUser>
  }
>()("directory/UserAdmin") {
  static readonly layer = Layer.effect(
    UserAdmin,
    Effect.gen(function* () {
      const sql = yield* Sql
      const callers = yield* CallerCache
      const bus = yield* Bus
      const custodial = yield* CustodialKeys
      const securityLog = yield* SecurityLog

      const invalidating = (id: string) => callers.invalidating(id.toLowerCase())
      const publish = (events: ReadonlyArray<Event>) => {
        for (const { channel } of events) bus.publish("channel", channel)
      }
      /** Returns the write if its outcome was accepted. Otherwise fails. */
      const accepted = Effect.fnUntraced(function* <
        Row extends { readonly outcome: Outcome<Changed | Removed> },
        Keep,
      >(written: Written<WriteOutcome<Row, Keep>>) {
        const { outcome } = written.outcome.rows[0]!
        if (outcome === null) return yield* noUser()
        if ("role" in outcome) return yield* refused(outcome)
        return "held" in outcome ? yield* stillHeld(outcome.held) : written
      })
      const remove = (id: string, statement: Statement) =>
        sql.write
          .rows<UserRemoved["rows"][number], UserRemoved["keep"]>(statement, {
            keep: { id: id.toLowerCase() },
            when: isAccepted,
          })
          .pipe(invalidating(id), Effect.flatMap(accepted))
      return UserAdmin.of({
        create: Effect.fnUntraced(function* ({ email, id = randomUUID(), passwordHash, role }) {
          const { pubkey, sealedKey } = yield* custodial.make
          yield* sql
            .attempt(
              (q) => q`with made as (
                         insert into app_user (id, email, password_hash, role, email_verified_at)
                         values (${id}, ${email}, ${passwordHash}, ${role}, now()) returning id)
                       insert into pubkey (pubkey, user_id, sealed_key) select ${pubkey}, id, ${sealedKey} from made`,
            )
            .pipe(Effect.catchTag("SqlRefused", uniquenessOf))
          return id
        }),
        update: Effect.fnUntraced(function* (id, changes, by) {
          const { active, email, password_hash, role } = changes
          const keep: UserUpdated["keep"] = {
            id: id.toLowerCase(),
            changes: {
              ...(active === undefined ? {} : { active }),
              ...(email === undefined ? {} : { email }),
              ...(role === undefined ? {} : { role }),
              hasNewPassword: password_hash !== undefined,
            },
          }
          return yield* sql.write
            .attempt<UserUpdated["rows"][number], UserUpdated["keep"]>(
              // The subquery sees the user as it was before the statement.
              (q) =>
                q`select update_user(${id}, ${JSON.stringify(changes)}::text::jsonb, ${rolesUpTo(by) as string[]}) as outcome,
                         (select jsonb_build_object('role', role, 'email', email, 'active', deactivated_at is null)
                            from app_user where id = ${id}) as before`,
              { keep, when: isAccepted },
            )
            .pipe(Effect.catchTag("SqlRefused", uniquenessOf), invalidating(id), Effect.flatMap(accepted))
        }),
        updated: Effect.fnUntraced(function* ({ keep: { changes, id }, rows }) {
          const { before, outcome } = rows[0]!
          const { events, user } = outcome as Changed
          publish(events)
          for (const event of eventsOfChange(id, changes, before)) yield* securityLog.record(event)
          return user
        }),
        removeTwoFactor: (id, by) =>
          sql.write
            .rows<FactorsRemoved["rows"][number], FactorsRemoved["keep"]>(
              (q) => q`select destroy_two_factor(${id}, ${rolesUpTo(by) as string[]}) as outcome`,
              { keep: { id: id.toLowerCase() }, when: isAccepted },
            )
            .pipe(invalidating(id), Effect.flatMap(accepted), Effect.catchTag("Conflict", Effect.die)),
        twoFactorRemoved: Effect.fnUntraced(function* ({ keep: { id: userId }, rows }) {
          const { events, user } = rows[0]!.outcome as Changed
          publish(events)
          yield* securityLog.record({ event: "two_factor.disabled", userId, details: { provider: "all" } })
          return user
        }),
        remove: (id, { by, insists }) =>
          remove(
            id,
            (q) => q`select delete_user(${id}, ${insists}, ${rolesUpTo(by) as string[]}) as outcome`,
          ),
        removeDemo: (id, by) =>
          remove(id, (q) => q`select delete_demo_user(${id}, ${rolesUpTo(by) as string[]}) as outcome`),
        removed: Effect.fnUntraced(function* ({ keep: { id: userId }, rows }) {
          const { events, kept, user } = rows[0]!.outcome as Extract<Removed, { readonly user: DisplayUser }>
          publish(events)
          yield* securityLog.record({ event: "account.deleted", userId })
          return { ...user, kept_emoji_ids: kept }
        }),
      })
    }),
  )
}

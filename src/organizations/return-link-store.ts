import { Effect } from "effect"
import { InvalidRequest, NotFound, Unavailable } from "../../schema/errors.ts"
import type { Mail } from "../../schema/turn.ts"
import { isPartnerLink } from "../../schema/web-link.ts"
import { SecurityLog } from "../accounts/security-log/security-log.ts"
import { AppConfig } from "../config/read-config.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"
import type { SqlRefused } from "../postgres/sql-failures.ts"
import { Outbox } from "../turns/outbox.ts"
import type { WrittenView } from "./written-view.ts"

interface LinkNow {
  readonly name: string
  readonly return_link: string | null
  /** The active owners. `email` is null if it is not confirmed. */
  readonly owners: ReadonlyArray<{ readonly id: string; readonly email: string | null }>
}

/** A return link that a statement has changed. */
export interface LinkChange {
  readonly organizationId: string
  readonly before: string | null
  readonly after: string
  /** The owners when it was changed. */
  readonly ownerIds: ReadonlyArray<string>
}

const maxAttempts = 5

export const organizationNotFound = () => new NotFound({ error: "Organization not found. Check the id." })

/**
 * Changes the return links of organizations. Partner flows send refresh tokens to these links, so the owners of the
 * organization get a mail about each change, committed with the change.
 */
export const makeReturnLinks = Effect.gen(function* () {
  const sql = yield* Sql
  const outbox = yield* Outbox
  const securityLog = yield* SecurityLog
  const { production } = yield* AppConfig

  const check = (link: string): Effect.Effect<void, InvalidRequest> =>
    isPartnerLink(link, { production })
      ? Effect.void
      : Effect.fail(
          new InvalidRequest({
            error:
              "return_link: expected an https URL or the deep link of an app, for example wallet://done. The link gets refresh tokens, so http is not allowed",
          }),
        )

  const read = (id: string) =>
    sql
      .rows<LinkNow>(
        (q) => q`select o.name, o.return_link, array(
                          select jsonb_build_object('id', u.id,
                                   'email', case when u.email_verified_at is not null then u.email end)
                            from organization_member m join app_user u on u.id = m.user_id
                           where m.organization_id = o.id and m.role = 'OrgOwner'
                             and u.deleted_at is null and u.deactivated_at is null order by u.id) as owners
                   from organization o where o.id = ${id}`,
      )
      .pipe(
        Effect.flatMap(([row]) =>
          row === undefined ? Effect.fail(organizationNotFound()) : Effect.succeed(row),
        ),
      )

  /**
   * Runs `update`, which sets the link unless it is null, and returns the column `view`. `isCurrent` must be part of its
   * condition: the mail names the old link, so the statement changes nothing if the link was changed after it was read.
   * Then the function reads the link again. The statement must also return `mailed`, which stores the mail.
   */
  const change = Effect.fnUntraced(function* <A>(
    id: string,
    link: string | null,
    update: (q: Client, isCurrent: SqlPiece, mailed: SqlPiece) => SqlPiece,
  ): Effect.fn.Return<
    WrittenView<A, LinkChange | null>,
    InvalidRequest | NotFound | SqlRefused | Unavailable
  > {
    if (link === null) {
      const changed = yield* sql.write.attempt<{ view: A }, LinkChange | null>(
        (q) => q`${update(q, q`true`, q`null as mailed`)}`,
        { keep: null },
      )
      return changed.outcome.rows.length > 0 ? changed : yield* organizationNotFound()
    }
    for (let tries = 0; tries < maxAttempts; tries++) {
      const before = yield* read(id)
      const isSame = before.return_link === link
      if (!isSame) yield* check(link)
      const facts = { organization: before.name, before: before.return_link ?? "", after: link }
      const mails = before.owners.flatMap(
        ({ email }): ReadonlyArray<Mail> =>
          email === null ? [] : [{ to: email, kind: "return_link_changed", data: facts }],
      )
      const sealed = JSON.stringify(isSame ? [] : yield* outbox.seal(mails))
      const linkChange = {
        organizationId: id,
        before: before.return_link,
        after: link,
        ownerIds: before.owners.map((owner) => owner.id),
      }
      const changed = yield* sql.write.attempt<{ view: A }, LinkChange | null>(
        (q) => {
          const isCurrent = q`return_link is not distinct from ${before.return_link}`
          return q`${update(q, isCurrent, q`put_mail(${sealed}::text::jsonb)::text as mailed`)}`
        },
        { keep: isSame ? null : linkChange },
      )
      if (changed.outcome.rows.length > 0) return changed
    }
    return yield* new Unavailable({
      error: "Too many concurrent changes of this organization. Retry the request.",
      retryAfterSeconds: 1,
    })
  })

  /** Records the changed link in the security logs of the owners. */
  const changed = ({ after, before, organizationId, ownerIds }: LinkChange) =>
    Effect.forEach(
      ownerIds,
      (userId) =>
        securityLog.record({
          event: "organization.return_link_changed",
          userId,
          details: { organization_id: organizationId, before, after },
        }),
      { discard: true },
    )

  return { check, change, changed }
})

/** Logs the organizations whose stored link gets no refresh tokens, because it was set before http was refused. */
export const warnOfUntrustedLinks = Effect.gen(function* () {
  const sql = yield* Sql
  const { production } = yield* AppConfig
  const rows = yield* sql.rows<{ id: string; return_link: string }>(
    (q) =>
      q`select id, return_link from organization where return_link ilike 'http:%' order by created_at limit 100`,
  )
  for (const { id, return_link } of rows)
    if (!isPartnerLink(return_link, { production }))
      yield* Effect.logWarning(
        "partner flows send no refresh tokens to this return link, because it is not https",
        {
          organization: id,
          return_link,
        },
      )
}).pipe(Effect.ignore)

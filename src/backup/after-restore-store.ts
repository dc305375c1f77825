import { Schema } from "effect"

/** What a restore has changed in the restored data. */
export const AfterRestore = Schema.Struct({
  held_mail: Schema.Int,
  ended_sessions: Schema.Int,
  /** The result of the ledger audit. Any value except zero is an error. */
  ledger_difference_in_cents: Schema.Int,
})
export type AfterRestore = typeof AfterRestore.Type

/**
 * More than the number of times that the sessions of one user end between a backup and its restore. An access token that
 * was issued in that time has a higher epoch than the restored user, and must not become valid again.
 */
const epochStep = 1000

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * Returns the statements that complete a restore, in the transaction of the restore. The last one returns an
 * AfterRestore as JSON. They use only tables and functions that every release has, because the data is migrated later.
 *
 * - Live channels get a new epoch: offsets that were assigned after the backup will be assigned again.
 * - Mail that waits is held: most of it was sent after the backup.
 * - Sessions, login links and codes end: those that were used or ended after the backup would work again.
 *
 * After a move (`isMove`) nothing was written since the backup, so mail and sessions stay as they are.
 */
export const afterRestore = (schemaName: string, { isMove }: { readonly isMove: boolean }): string => `
  select pg_catalog.set_config('search_path', pg_catalog.quote_ident(${quoted(schemaName)}), false);
  select renew_live_epoch();
  with held as (
    update outbox set due_at = 'infinity'
     where sent_at is null and due_at < 'infinity' and ${!isMove} returning 1
  ), later as (
    update app_user set token_epoch = token_epoch + ${epochStep} where ${!isMove} returning 1
  ), ended as (
    update entity set status = 'Revoked', state = jsonb_set(state, '{value}', '"Revoked"'), version = version + 1,
           turn = gen_random_uuid(), due_at = null, updated_at = now()
     where kind = 'session' and status not in ('Revoked', 'Expired') and ${!isMove} returning 1
  ), links as (
    delete from magic_link where ${!isMove}
  ), messages as (
    delete from sms_code where ${!isMove}
  ), codes as (
    delete from authorization_code where ${!isMove}
  )
  select jsonb_build_object('held_mail', (select count(*) from held), 'ended_sessions', (select count(*) from ended),
                            'ledger_difference_in_cents', ledger_audit())::text as done;`

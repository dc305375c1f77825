import { Effect } from "effect"
import type { SandboxIntent } from "../../../schema/turn.ts"
import { Sql } from "../../postgres/sql.ts"
import type { PaidMethod } from "./port.ts"
import type { Webhook } from "./sandbox-webhook-store.ts"

export interface SandboxSession {
  readonly intentId: string
  readonly sessionId: string
  readonly orderId: string
  readonly method: PaidMethod
  readonly cents: number
  readonly paidCents: number
  readonly status: "open" | "cancelled"
  /** The buyer chose another payment method, so this session must not be paid any more. */
  readonly isReplaced: boolean
  readonly successUrl: string | null
  readonly cancelUrl: string | null
}

interface SandboxPayment {
  readonly id: string
  readonly cents: number
  readonly outcome: string
}

/**
 * The process that records a payment sends its webhook immediately. If that fails, any process can send the webhook
 * after this time.
 */
const firstPauseSeconds = 3

export const makeSandboxStore = Sql.useSync((sql) => ({
  putIntents: (orderId: string, intents: ReadonlyArray<SandboxIntent> | undefined) =>
    sql.rows((q) => q`select put_sandbox_intents(${orderId}, ${JSON.stringify(intents)}::text::jsonb)`),

  findSession: (sessionId: string) =>
    sql
      .rows<SandboxSession>(
        (q) => q`select id as "intentId", session_id as "sessionId", order_id as "orderId", method, cents,
                        paid_cents as "paidCents", status, replaced_at is not null as "isReplaced", success_url as "successUrl", cancel_url as "cancelUrl"
                   from sandbox_intent where session_id = ${sessionId}`,
      )
      .pipe(Effect.map((rows) => rows[0])),

  /**
   * Records a payment, a declined payment or a refund, together with its webhooks. One statement does both, so after a
   * crash both are stored or neither is. Records nothing if `paidBefore` is set and differs from the stored paid
   * amount. A card or wallet payment is recorded only while the intent is open and not fully paid, an on-chain payment
   * also afterwards. Returns the webhooks, or an empty array if nothing was recorded. `on conflict` is needed because
   * two concurrent requests for one refund do not see each other in `not exists`.
   */
  record: (
    intentId: string,
    payment: SandboxPayment,
    messages: ReadonlyArray<string>,
    paidBefore?: number,
  ) => {
    const captured = payment.outcome === "captured" ? payment.cents : 0
    return sql.rows<Webhook>(
      (q) => q`with intent as (
                 update sandbox_intent set paid_cents = paid_cents + ${captured}
                  where id = ${intentId} and paid_cents = coalesce(${paidBefore ?? null}::bigint, paid_cents)
                    and not exists (select 1 from sandbox_payment where id = ${payment.id})
                    and (${payment.outcome} <> 'captured' or method = 'CryptoCommerce'
                         or (status = 'open' and paid_cents < cents))
                 returning id
               ), payment as (
                 insert into sandbox_payment (id, intent_id, cents, outcome)
                 select ${payment.id}, id, ${payment.cents}, ${payment.outcome} from intent
                 on conflict (id) do nothing returning id
               )
               insert into sandbox_webhook (payload, due_at)
               select m #>> '{}', now() + make_interval(secs => ${firstPauseSeconds})
                 from payment, jsonb_array_elements(${JSON.stringify(messages)}::text::jsonb) m
               returning id, payload`,
    )
  },

  /** Also true for an intent that is not stored: only a cancelled intent is deleted. */
  isCancelled: (intentId: string) =>
    sql
      .rows((q) => q`select 1 from sandbox_intent where id = ${intentId} and status <> 'cancelled'`)
      .pipe(Effect.map((rows) => rows.length === 0)),

  cancelIntent: (intentId: string, isReplaced: boolean) =>
    sql.rows(
      (q) => q`update sandbox_intent
                  set status = 'cancelled',
                      replaced_at = case when ${isReplaced} and paid_cents < cents then coalesce(replaced_at, now())
                                         else replaced_at end
                where id = ${intentId}`,
    ),

  capturesOf: (intentId: string) =>
    sql.rows<{ readonly id: string; readonly cents: number }>(
      (q) =>
        q`select id, cents from sandbox_payment where intent_id = ${intentId} and outcome = 'captured' order by at`,
    ),
}))

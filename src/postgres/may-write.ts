const known = new WeakMap<ReadonlyArray<string>, boolean>()

const writes = /\b(insert|update|delete|merge|truncate|notify)\b/i
/** Calls of functions whose names have an underscore. All functions of ours that write have such a name. */
const calls = /\b[a-z]+_[a-z_]+(?=\()/g
/** The functions that only read. A function that is not listed counts as one that writes. */
const reads =
  /^(array|json|jsonb|make|pg_current|pg_snapshot|string|to|row|display|date|regexp)_|^(channel_parties|channel_start|cluster_lock|demo_items_left|due_id_mail|epoch_ms|event_row|export_person|has_confirmed|has_payment_tag|is_payment_tag|ledger_audit|listed_emoji_id|live_epoch|live_lookup|may_write|money_held|notice_address|owns_something|prompt_is_due|recipient_sees|session_user_of|shorten_records|user_holdings|user_view|views_since|wire_time|clock_timestamp)$/
/** Statements that only count requests. They do not change what a request asks for, so it can still be discarded. */
const counts = /\b(take_rate\(|rate_window\b)/

const mayWriteText = (text: string): boolean =>
  !counts.test(text) && (writes.test(text) || (text.match(calls) ?? []).some((name) => !reads.test(name)))

interface Template {
  readonly strings: ReadonlyArray<string>
  readonly args: ReadonlyArray<unknown>
}

const isTemplate = (value: object): value is Template => "strings" in value && "args" in value

/**
 * Whether a statement may write what its request asks for. In doubt the result is true: then its request is not discarded later, although it
 * could be. The client (postgres 3.4.9) keeps the fixed parts of a template in `strings`, and values and nested
 * parts in `args`.
 */
export const mayWrite = (query: object): boolean => {
  if (!isTemplate(query)) return true
  const { args, strings } = query
  let result = known.get(strings)
  if (result === undefined) {
    result = mayWriteText(strings.join(" "))
    known.set(strings, result)
  }
  return (
    result || args.some((arg) => typeof arg === "object" && arg !== null && isTemplate(arg) && mayWrite(arg))
  )
}

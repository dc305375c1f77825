/** The tables that stay small however long the service runs, each with what limits its rows. */
export const smallTables: Readonly<Record<string, string>> = {
  audit_round: "one row",
  cluster_member: "one row per process",
  database_timeline: "one row",
  demo_item: "the demo data",
  demo_part: "the demo data",
  feature: "operators create features",
  freed_id: "a queue: a row is deleted when the interested users are notified",
  function_file: "one row per file in schema/sql/functions",
  held_money: "orders that hold money and are not paid",
  live_epoch: "one row",
  lootbox_type: "operators create types",
  method_to_forget: "a queue: a row is deleted when the provider has detached the payment method",
  migration: "one row per file in schema/sql",
  order_cleanup: "one row",
  price_parameters: "one row",
  view_batch: "one row per process, deleted after a day",
}

import type postgres from "postgres"

/**
 * Returns SQL that presents a list of keys as the table `x(canonical)`. A lateral subquery can then look up each key
 * by the index, whatever the planner's statistics are. A list in `= any(…)` has two problems: Postgres plans a
 * statement with a short list again at each execution, which takes longer than the lookup; and if the table is small,
 * or was small at the last ANALYZE, the whole table is read.
 */
export const lateralKeys = (q: postgres.Sql, canonicals: ReadonlyArray<string>) =>
  q`json_array_elements_text(${JSON.stringify(canonicals)}::text::json) as x(canonical)`

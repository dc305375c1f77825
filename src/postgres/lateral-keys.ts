import type postgres from "postgres"

/**
 * A list of keys as the table `x(canonical)`, for a lateral subquery that looks up each key by the index, independent
 * of the planner's statistics. A list in `= any(…)` has two problems: while it is short, it is planned again each
 * time, which takes longer than the lookup; and if the table is small, or was small at the last ANALYZE, the whole
 * table is read.
 */
export const lateralKeys = (q: postgres.Sql, canonicals: ReadonlyArray<string>) =>
  q`json_array_elements_text(${JSON.stringify(canonicals)}::text::json) as x(canonical)`

import type postgres from "postgres"

/**
 * Texts to be looked up one by one, as `x(canonical)`: each by its key in a lateral subquery, whatever the planner thinks of
 * the table. A list compared with `= any(…)` is planned anew each time while it is short, which takes longer than finding
 * what is in it; and while a table is small, or was when last analyzed, all of it is read.
 */
export const lateralKeys = (q: postgres.Sql, canonicals: ReadonlyArray<string>) =>
  q`json_array_elements_text(${JSON.stringify(canonicals)}::text::json) as x(canonical)`

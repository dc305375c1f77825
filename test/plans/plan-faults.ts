import { smallIndexes } from "./exceptions.ts"
import type { PlanNode } from "./recorded-plans.ts"

/**
 * The most rows of one table that a statement may read. Lists count their rows exactly up to 10,000, and housekeeping
 * deletes at most 5,000 rows with one statement. More can only be a part that grows with the table.
 */
export const mostRowsRead = 12_000

/** These nodes read all of their input before they return a row, so a LIMIT above them does not limit what is read. */
const readsAll = new Set([
  "Sort",
  "Aggregate",
  "Hash",
  "WindowAgg",
  "Bitmap Heap Scan",
  "SetOp",
  "ModifyTable",
])

const indexScans = new Set(["Index Scan", "Index Only Scan"])

const isSmallIndex = (node: PlanNode): boolean => (node["Index Name"] ?? "") in smallIndexes

const rowsRead = (node: PlanNode): number =>
  (node["Actual Rows"] +
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0)) *
  node["Actual Loops"]

/** A fault of one node, and the table that it reads. */
export interface PlanFault {
  readonly table: string
  readonly fault: string
}

const faultOf = (node: PlanNode, isLimited: boolean): string | undefined => {
  const table = node["Relation Name"]
  const kind = node["Node Type"]
  const read = rowsRead(node)
  if (kind === "Seq Scan" && (node.Filter !== undefined || !isLimited))
    return `scans ${table} sequentially${node.Filter === undefined ? "" : `, looking for ${node.Filter}`}`
  if (indexScans.has(kind) && node["Index Cond"] === undefined && !isLimited && !isSmallIndex(node))
    return `reads the whole index ${node["Index Name"]} of ${table}`
  if (read > mostRowsRead) return `reads ${Math.round(read)} rows of ${table}`
  if (node["Actual Loops"] === 0 && !isLimited && node["Plan Rows"] > mostRowsRead)
    return `would read about ${node["Plan Rows"]} rows of ${table}, if this part of the plan ran`
  return undefined
}

/**
 * Returns what makes the cost of a statement grow with a table: sequential scans, index scans that nothing limits, and
 * more rows read than a limited statement needs. Sorts, counts and joins over a table all read its rows.
 */
export const findFaults = (plan: PlanNode, isLarge: (table: string) => boolean) => {
  const faults: Array<PlanFault> = []
  const visit = (node: PlanNode, isLimited: boolean): void => {
    const table = node["Relation Name"]
    if (table !== undefined && isLarge(table) && node["Node Type"] !== "ModifyTable") {
      const fault = faultOf(node, isLimited)
      if (fault !== undefined) faults.push({ table, fault })
    }
    const limitsBelow = node["Node Type"] === "Limit" || (isLimited && !readsAll.has(node["Node Type"]))
    for (const below of node.Plans ?? []) visit(below, limitsBelow)
  }
  visit(plan, false)
  return faults
}

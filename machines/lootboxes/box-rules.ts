import type { LootBoxStatus } from "../../schema/lootboxes/lootbox.ts"

/** A reason why a lootbox cannot have a requested status. */
export type BoxFault = "owner_missing" | "owner_not_allowed" | "empty"

/** Returns the rules that a lootbox with this status, owner and number of ids violates. Empty if it violates none. */
export const boxFaults = (
  status: LootBoxStatus,
  { hasOwner, size }: { readonly hasOwner: boolean; readonly size: number },
): ReadonlyArray<BoxFault> => {
  const needsOwner = status === "Owned" || status === "Used"
  return [
    ...(needsOwner && !hasOwner ? (["owner_missing"] as const) : []),
    ...(!needsOwner && hasOwner ? (["owner_not_allowed"] as const) : []),
    ...(status !== "Draft" && size === 0 ? (["empty"] as const) : []),
  ]
}

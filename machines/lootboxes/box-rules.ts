import type { LootBoxStatus } from "../../schema/lootboxes/lootbox.ts"

/** Why a box cannot have a status. */
export type BoxFault = "owner_missing" | "owner_not_allowed" | "empty"

/** The rules for the owner and the contents of a box with this status. */
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

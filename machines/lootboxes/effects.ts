import { type LootBoxStatus, lootboxKey } from "../../schema/lootboxes/lootbox.ts"
import type { BoxedId } from "../../schema/lootboxes/lootbox-snapshot.ts"
import type { ChannelEvent, Claim, Grant } from "../../schema/turn.ts"

/** Describes how a turn changes a lootbox. */
export interface BoxChange {
  readonly boxId: string
  readonly from: LootBoxStatus | "New"
  readonly to: LootBoxStatus | "Deleted"
  readonly before: ReadonlyArray<BoxedId>
  readonly after: ReadonlyArray<BoxedId>
  readonly ownerId: string | null
  readonly pubkey: string | null
  /** The order that buys the lootbox and holds the claim on the lootbox's key. Null if no order buys it. */
  readonly orderId: string | null
}

const without = (ids: ReadonlyArray<BoxedId>, others: ReadonlyArray<BoxedId>) => {
  const known = new Set(others.map(({ canonical }) => canonical))
  return ids.filter(({ canonical }) => !known.has(canonical))
}

/**
 * Whether a turn changes the contents of a lootbox on sale. Orders from before the change then show the old contents.
 */
export const changesOffer = ({ after, before, from }: BoxChange): boolean =>
  from === "Available" && (without(after, before).length > 0 || without(before, after).length > 0)

/**
 * Claims the lootbox's key for the lootbox itself, so that no order can claim it. There are two exceptions. A turn
 * that puts the lootbox on sale makes no claim. A turn that changes a lootbox on sale makes the claim and ends it in
 * the same turn (see `boxReleases`), so that the turn fails while an order holds the lootbox.
 */
const keyClaims = ({ boxId, from, orderId, to }: BoxChange): ReadonlyArray<Claim> => {
  if (to === "Available" && from !== "Available") return []
  const claim: Claim = { canonical: lootboxKey(boxId), kind: "lootbox", holder: boxId }
  return [orderId === null ? claim : { ...claim, from_holder: orderId }]
}

const idClaims = (change: BoxChange): ReadonlyArray<Claim> => {
  const { after, before, boxId, ownerId, to } = change
  const added = without(after, before)
  if (to !== "Used" || ownerId === null) {
    return added.map(({ canonical }) => ({ canonical, kind: "lootbox", holder: boxId }))
  }
  const owned = { kind: "owned", holder: ownerId, owner_id: ownerId } as const
  return [
    ...added.map(({ canonical }) => ({ canonical, ...owned })),
    ...without(after, added).map(
      ({ canonical }): Claim => ({ canonical, ...owned, from_holder: boxId, held: true }),
    ),
  ]
}

export const boxClaims = (change: BoxChange): ReadonlyArray<Claim> => [
  ...keyClaims(change),
  ...idClaims(change),
]

const releasedIds = ({ after, before, to }: BoxChange) => (to === "Deleted" ? before : without(before, after))

export const boxReleases = (change: BoxChange): ReadonlyArray<string> => [
  ...releasedIds(change).map(({ canonical }) => canonical),
  ...(change.to === "Available" ? [lootboxKey(change.boxId)] : []),
]

export const boxGrants = ({ after, boxId, ownerId, pubkey, to }: BoxChange): ReadonlyArray<Grant> =>
  to !== "Used" || ownerId === null
    ? []
    : after.map(({ canonical }) => ({
        canonical,
        owner_id: ownerId,
        pubkey,
        source: `lootbox:${boxId}`,
      }))

export const boxEvents = (change: BoxChange): ReadonlyArray<ChannelEvent> => {
  const { after, boxId: id, from, ownerId, to } = change
  const released = releasedIds(change).map(
    ({ canonical }): ChannelEvent => ({
      channel: "market",
      type: "market.released",
      data: { emoji_id: canonical },
    }),
  )
  const channel = `lootboxes:${ownerId}`
  if (to === "Owned") return [...released, { channel, type: "lootbox.owned", data: { id } }]
  if (to === "Deleted" && from === "Owned")
    return [...released, { channel, type: "lootbox.returned", data: { id } }]
  if (to !== "Used") return released
  const emoji_ids = after.map(({ canonical }) => canonical)
  return [
    ...released,
    { channel, type: "lootbox.opened", data: { id, emoji_ids } },
    ...emoji_ids.map((emoji_id) => ({
      channel: `emoji_id:${emoji_id}`,
      type: "emoji_id.registered",
      data: { emoji_id },
    })),
  ]
}

import { type LootBoxStatus, lootboxKey } from "../../schema/lootboxes/lootbox.ts"
import type { ChannelEvent, Claim, Grant } from "../../schema/turn.ts"

export interface BoxedId {
  readonly canonical: string
  readonly score: number
}

/** What a turn makes of a box: where it comes from, where it goes, what it holds then. */
export interface Passage {
  readonly boxId: string
  readonly from: LootBoxStatus | "New"
  readonly to: LootBoxStatus | "Deleted"
  readonly before: ReadonlyArray<BoxedId>
  readonly after: ReadonlyArray<BoxedId>
  readonly ownerId: string | null
  readonly pubkey: string | null
  /** The order that has a hold on the box. */
  readonly orderId: string | null
}

const without = (ids: ReadonlyArray<BoxedId>, others: ReadonlyArray<BoxedId>) => {
  const known = new Set(others.map(({ canonical }) => canonical))
  return ids.filter(({ canonical }) => !known.has(canonical))
}

/** Somebody may have an offer of the box as it was: what is in it now is something else. */
export const changesOffer = ({ after, before, from }: Passage): boolean =>
  from === "Available" && (without(after, before).length > 0 || without(before, after).length > 0)

/** A box in anybody's hands but the market's keeps its key: no order can claim it then. */
const keyClaims = ({ boxId, from, orderId, to }: Passage): ReadonlyArray<Claim> => {
  if (to === "Available" && from !== "Available") return []
  const claim: Claim = { canonical: lootboxKey(boxId), kind: "lootbox", holder: boxId }
  return [orderId === null ? claim : { ...claim, from_holder: orderId }]
}

const idClaims = (passage: Passage): ReadonlyArray<Claim> => {
  const { after, before, boxId, ownerId, to } = passage
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

export const boxClaims = (passage: Passage): ReadonlyArray<Claim> => [
  ...keyClaims(passage),
  ...idClaims(passage),
]

const letGo = ({ after, before, to }: Passage) => (to === "Deleted" ? before : without(before, after))

export const boxReleases = (passage: Passage): ReadonlyArray<string> => [
  ...letGo(passage).map(({ canonical }) => canonical),
  ...(passage.to === "Available" ? [lootboxKey(passage.boxId)] : []),
]

export const boxGrants = ({ after, boxId, ownerId, pubkey, to }: Passage): ReadonlyArray<Grant> =>
  to !== "Used" || ownerId === null
    ? []
    : after.map(({ canonical }) => ({
        canonical,
        owner_id: ownerId,
        pubkey,
        source: `lootbox:${boxId}`,
      }))

export const boxEvents = (passage: Passage): ReadonlyArray<ChannelEvent> => {
  const { after, boxId: id, ownerId, to } = passage
  const released = letGo(passage).map(
    ({ canonical }): ChannelEvent => ({
      channel: "market",
      type: "market.released",
      data: { emoji_id: canonical },
    }),
  )
  const channel = `lootboxes:${ownerId}`
  if (to === "Owned") return [...released, { channel, type: "lootbox.owned", data: { id } }]
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

import { Effect } from "effect"
import { type BoxFault, boxFaults } from "../../machines/lootboxes/box-rules.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { fieldFault } from "../../schema/errors.ts"
import { FieldFaults } from "../../schema/field-faults.ts"
import { type LootBoxStatus, maxIdsPerBox } from "../../schema/lootboxes/lootbox.ts"
import type { BoxedId } from "../../schema/lootboxes/lootbox-snapshot.ts"
import type { Parties } from "../accounts/party-store.ts"

/** A lootbox as an administrator requests it: a new lootbox, or the changed version of an existing one. */
export interface LootboxRequest {
  readonly status: LootBoxStatus
  readonly yats: ReadonlyArray<EmojiId> | undefined
  readonly ownerEmail: string | undefined
  readonly ownerId: string | undefined
  /** True if the lootbox already has an owner. */
  readonly isOwned: boolean
  /** The current contents of the lootbox. They are not changed if the request contains no `yats`. */
  readonly ids: ReadonlyArray<unknown>
}

export const boxed = (ids: ReadonlyArray<EmojiId>): ReadonlyArray<BoxedId> =>
  ids.map((id) => ({ canonical: id.canonical, score: rhythmScore(id) }))

/** Checks a request. Fails with all rules that the request violates, by field. */
export const checkLootboxRequest = ({ ids, isOwned, ownerEmail, ownerId, status, yats }: LootboxRequest) => {
  const faults = new FieldFaults()
  const namesOwner = ownerEmail !== undefined || ownerId !== undefined
  const addFault: Record<BoxFault, () => void> = {
    owner_missing: () =>
      faults.add("owner_id", "required", `A lootbox with status ${status} requires an owner.`),
    // This fault is reported only if the request names an owner. If the lootbox already has an owner, the machine
    // refuses the status.
    owner_not_allowed: () =>
      namesOwner &&
      faults.add(
        ownerId === undefined ? "owner_email" : "owner_id",
        "status",
        `A lootbox with status ${status} cannot have an owner. Use status Owned or Used.`,
      ),
    empty: () =>
      faults.add("yats", "length", `A lootbox with status ${status} requires at least one emoji id.`),
  }
  if (ownerEmail !== undefined && ownerId !== undefined) {
    faults.add("owner_email", "exclusive", "Send owner_email or owner_id, not both.")
  }
  const size = (yats ?? ids).length
  for (const fault of boxFaults(status, { hasOwner: namesOwner || isOwned, size })) addFault[fault]()
  if (yats !== undefined) {
    if (yats.length > maxIdsPerBox) {
      faults.add("yats", "length", `A lootbox can contain at most ${maxIdsPerBox} emoji ids.`)
    }
    if (new Set(yats.map(({ canonical }) => canonical)).size < yats.length) {
      faults.add("yats", "eligibility", "A lootbox can contain each emoji id only once.")
    }
  }
  return faults.check
}

export const makeFindBoxOwner = (parties: Parties["Service"]) =>
  Effect.fnUntraced(function* ({ ownerEmail, ownerId }: Pick<LootboxRequest, "ownerEmail" | "ownerId">) {
    if (ownerEmail === undefined && ownerId === undefined) return null
    const [field, party] =
      ownerId === undefined
        ? (["owner_email", yield* parties.findByEmail(ownerEmail ?? "")] as const)
        : (["owner_id", yield* parties.find(ownerId.toLowerCase())] as const)
    if (party === undefined || !party.active) {
      return yield* fieldFault(field, "unknown", "There is no active user with this id or email address.")
    }
    if (ownerId === undefined && party.unproven) {
      return yield* fieldFault(field, "unconfirmed", "The user has not confirmed this email address yet.")
    }
    return party.id
  })

import { Effect } from "effect"
import type { BoxedId } from "../../machines/lootboxes/effects.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { fieldFault } from "../../schema/errors.ts"
import { FieldFaults } from "../../schema/field-faults.ts"
import { type LootBoxStatus, maxIdsPerBox } from "../../schema/lootboxes/lootbox.ts"
import type { Parties } from "../accounts/party-store.ts"

/** What an administrator says of a box, in a request to make or to change one. */
export interface LootboxRequest {
  readonly status: LootBoxStatus
  readonly yats: ReadonlyArray<EmojiId> | undefined
  readonly ownerEmail: string | undefined
  readonly ownerId: string | undefined
  /** The box has an owner already. */
  readonly isOwned: boolean
  /** What it holds as long as no others are named. */
  readonly ids: ReadonlyArray<unknown>
}

const needsOwner = (status: LootBoxStatus) => status === "Owned" || status === "Used"

export const boxed = (ids: ReadonlyArray<EmojiId>): ReadonlyArray<BoxedId> =>
  ids.map((id) => ({ canonical: id.canonical, score: rhythmScore(id) }))

/** The rules an administrator's body has to keep, each told by field. */
export const checkLootboxRequest = ({ ids, isOwned, ownerEmail, ownerId, status, yats }: LootboxRequest) => {
  const faults = new FieldFaults()
  const names = ownerEmail !== undefined || ownerId !== undefined
  const ownerField = ownerId === undefined ? "owner_email" : "owner_id"
  if (ownerEmail !== undefined && ownerId !== undefined) {
    faults.add("owner_email", "exclusive", "Name the owner by owner_email or by owner_id, not by both.")
  }
  if (needsOwner(status) && !names && !isOwned) {
    faults.add("owner_id", "required", `A box that is ${status} needs an owner.`)
  }
  if (names && !needsOwner(status)) {
    faults.add(ownerField, "status", `A box with an owner is Owned or Used, not ${status}.`)
  }
  if ((yats ?? ids).length === 0 && status !== "Draft") {
    faults.add("yats", "length", `A box that is ${status} holds at least one id.`)
  }
  if (yats !== undefined) {
    if (yats.length > maxIdsPerBox) faults.add("yats", "length", `A box holds at most ${maxIdsPerBox} ids.`)
    if (new Set(yats.map(({ canonical }) => canonical)).size < yats.length) {
      faults.add("yats", "eligibility", "A box holds an id only once.")
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
      return yield* fieldFault(field, "unknown", "There is no active user like this.")
    }
    if (ownerId === undefined && party.unproven) {
      return yield* fieldFault(field, "unconfirmed", "This address is not confirmed by its user yet.")
    }
    return party.id
  })

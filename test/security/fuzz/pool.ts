import type { Luck } from "../../fixtures/walk.ts"

const keptPerName = 60
const keptNames = 2_000
const longestKept = 600
const maxDepth = 6

/** Members and parameters whose values occur in responses under another name. */
const synonyms = new Map<string, ReadonlyArray<string>>(
  Object.entries({
    user_id: ["/users", "owner_id"],
    owner_id: ["/users", "user_id"],
    sender_id: ["/users", "user_id"],
    organization_id: ["/organizations"],
    transfer_id: ["/transfers"],
    code_id: ["/codes"],
    feature_id: ["/features"],
    loot_box_type_id: ["/lootbox_type"],
    lootbox_id: ["/lootboxes"],
    cart_item_id: ["/orders"],
    eid: ["emoji_id"],
    emoji_id: ["eid", "canonical_format", "/emoji_id"],
    pubkey: ["/pubkeys"],
    email: ["to"],
    code: ["redemption_code"],
  }),
)

/** The ids of orders and of users are different values, so the member `id` is kept by the first part of the path. */
const kindOf = (path: string, name: string): string => {
  if (name !== "id") return name
  const first = path.split("/")[1]
  return first === "cart" ? "/orders" : `/${first}`
}

/**
 * Real values that responses contained, by the name of their member. Later requests use them, so that they reach
 * existing users, orders, emoji ids and codes.
 */
export class Pool {
  readonly #values = new Map<string, Array<unknown>>()
  readonly #luck: Luck

  constructor(luck: Luck) {
    this.#luck = luck
  }

  harvest(path: string, value: unknown, depth = 0): void {
    if (depth > maxDepth || typeof value !== "object" || value === null) return
    for (const [name, member] of Object.entries(value)) {
      this.harvest(path, member, depth + 1)
      // A list of plain values, such as emoji ids or pubkeys, names the resources themselves.
      if (member !== null && typeof member !== "object")
        this.#put(kindOf(path, Array.isArray(value) ? "id" : name), member)
    }
  }

  #put(kind: string, value: unknown): void {
    if (String(value).length > longestKept) return
    const values = this.#values.get(kind) ?? []
    if (values.length === 0 && this.#values.size >= keptNames) return
    if (values.length < keptPerName) values.push(value)
    else values[this.#luck.below(keptPerName)] = value
    this.#values.set(kind, values)
  }

  /** Returns a known value for the member or the parameter, or undefined if there is none. */
  find(path: string, name: string): unknown {
    const kinds = [kindOf(path, name), ...(synonyms.get(name) ?? [])]
    return this.#luck.pick(kinds.flatMap((kind) => this.#values.get(kind) ?? []))
  }
}

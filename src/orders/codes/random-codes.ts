import { Context, Effect, Layer } from "effect"
import { unchanged } from "../../../actors/operation.ts"
import type { OrderEvent } from "../../../machines/orders/context.ts"
import type { DisplayUser } from "../../../schema/accounts/user.ts"
import type { EmojiId } from "../../../schema/directory/emoji-id.ts"
import { fieldFault, NotFound } from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { Code } from "../../../schema/orders/code.ts"
import { drawBounds, type RandomYatActivateBody } from "../../../schema/orders/random-id-code.ts"
import { Users } from "../../accounts/user-store.ts"
import { AppConfig } from "../../config/read-config.ts"
import { secureRandom } from "../../crypto/secure-random.ts"
import { DefaultPubkeys } from "../../keys/default-pubkey.ts"
import { Market } from "../../market/market.ts"
import { randomEmojiId } from "../../market/suggestions-random.ts"
import { Carts, repeatedTurn } from "../cart/cart.ts"
import { idItem } from "../cart/items.ts"
import { freeDiscounts } from "../checkout/discounts.ts"
import type { StoredOrder } from "../order-store.ts"
import { keyRules } from "./activation-signatures.ts"
import { CodePubkeys } from "./code-pubkey-store.ts"
import { checkOrigin, checkUsable, usedUp } from "./code-rules.ts"
import { Codes } from "./code-store.ts"

const candidates = 16
const maxRounds = 8
const maxTries = 5
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const nothingFree = fieldFault("code", "eligibility", "No id that matches this code is available.")

const make = Effect.gen(function* () {
  const carts = yield* Carts
  const codes = yield* Codes
  const config = yield* AppConfig
  const defaultKeys = yield* DefaultPubkeys
  const keys = yield* CodePubkeys
  const market = yield* Market
  const users = yield* Users

  /**
   * Finds a code. A code that requires a signature is found by its id, a redemption code by its text. Any other
   * combination is answered with 404.
   */
  const getCode = Effect.fnUntraced(function* (reference: string) {
    const code = uuid.test(reference)
      ? yield* codes.find(reference.toLowerCase())
      : yield* codes.findByRedemption(reference)
    const isAddressed = (code?.activator === "SecretKey") === uuid.test(reference)
    if (code === undefined || code.deleted_at !== null || !isAddressed) {
      return yield* new NotFound({ error: "Code not found." })
    }
    return code
  })

  /**
   * Checks that a key of the code has signed the user's alternate_id. Returns the activation, which the code accepts
   * once, and the error for an activation that was used before. Undefined if the code requires no signature.
   */
  const checkSignature = Effect.fnUntraced(function* (
    code: Code,
    user: DisplayUser,
    body: RandomYatActivateBody,
  ) {
    if (code.activator !== "SecretKey") return undefined
    if (user.alternate_id === undefined) {
      return yield* fieldFault(
        "signature",
        "eligibility",
        "Only users with an alternate_id can use this code.",
      )
    }
    const kind = yield* keys.findKind(code.id, body.pubkey.toLowerCase())
    if (kind === undefined)
      return yield* fieldFault(
        "pubkey",
        "unknown",
        "This public key is not one of the keys that can activate this code.",
      )
    const rules = keyRules[kind]
    if (!rules.isSigned(user.alternate_id, body)) {
      return yield* fieldFault(
        "signature",
        "invalid",
        `The signature is not valid for this ${kind} key, your alternate_id and this nonce.`,
      )
    }
    return {
      activation: rules.activation(user.alternate_id, body.nonce),
      alreadyUsed: fieldFault("nonce", "uniqueness", rules.usedUp),
    }
  })

  const drawId = Effect.fnUntraced(function* (pattern: unknown) {
    const bounds = drawBounds(pattern)
    for (let round = 0; round < maxRounds; round++) {
      // Nearly every id is available, so the first round draws only one candidate.
      const drawn = Array.from({ length: round === 0 ? 1 : candidates }, () =>
        randomEmojiId({ ...bounds, random: secureRandom }),
      )
      const quotes = yield* market.quote(drawn.filter((id): id is EmojiId => id !== undefined))
      const found = quotes.find(({ available, priceCents }) => available && priceCents !== null)
      if (found !== undefined) return found
    }
    return yield* nothingFree
  })

  const drawItems = Effect.fnUntraced(function* (code: Code, at: string) {
    const item = idItem(yield* drawId(code.pattern), at)
    const discounts = freeDiscounts([item], at).map((discount) => ({ ...discount, codeId: code.id }))
    return [item, ...discounts]
  })

  /**
   * Returns the user's cart if an earlier request with the same activation filled it, otherwise undefined. A cart that
   * was returned to Draft no longer uses the code.
   */
  const findRepeated = Effect.fnUntraced(function* (
    code: Code,
    userId: string,
    activation: string | undefined,
  ) {
    if (activation === undefined) return undefined
    const orderId = yield* keys.findOrder(code.id, activation, userId)
    const { order, user } = yield* carts.get(userId)
    const usesCode = order.context.codes.some(({ codeId }) => codeId === code.id)
    return orderId === order.context.id && usesCode ? unchanged(repeatedTurn(user, order)) : undefined
  })

  const activate = Effect.fnUntraced(function* (
    userId: string,
    reference: string,
    body: RandomYatActivateBody,
  ) {
    const user = yield* users.get(userId)
    const code = yield* getCode(reference)
    const signed = yield* checkSignature(code, user, body)
    const activation = signed?.activation
    yield* checkOrigin(code, { isSigned: signed !== undefined })
    const repeated = yield* findRepeated(code, userId, activation)
    if (repeated !== undefined) return repeated
    const pubkey = yield* defaultKeys.of(userId)

    const decide = ({ context, status }: StoredOrder, at: string) =>
      Effect.gen(function* () {
        const now = Date.parse(at)
        // Ids are drawn only if the cart is an empty draft. For any other cart the machine refuses the event.
        const isEmptyDraft = status === "Draft" && context.items.length === 0
        yield* checkUsable(code, "RandomYat", now)
        const event = {
          type: "activate",
          at,
          items: isEmptyDraft ? yield* drawItems(code, at) : [],
          checkout: {
            method: "Free",
            at,
            expiresAt: isoTime(now + config.cartTtlSeconds * 1000),
            pubkey,
            ...(user.email === undefined ? {} : { email: user.email }),
            ...(code.organization_id === null ? {} : { organizationId: code.organization_id }),
          },
          code: { codeId: code.id, count: 1 },
          ...(activation === undefined ? {} : { activation }),
          ...(body.tracking_data == null ? {} : { tracking: body.tracking_data }),
        } satisfies OrderEvent as OrderEvent
        return { event }
      })

    /**
     * Returns the cart if a concurrent request with the same activation filled it. Otherwise fails with `refusal`.
     */
    const unlessRepeated = <E>(refusal: E) =>
      Effect.flatMap(findRepeated(code, userId, activation), (found) =>
        found === undefined ? Effect.fail(refusal) : Effect.succeed(found),
      )

    for (let tries = 1; ; tries++) {
      const turn = yield* carts.complete(userId, decide).pipe(
        Effect.catchTags({
          EventRefused: (refused) => unlessRepeated(refused),
          // Another order claimed the drawn id first. The next attempt draws another id.
          IdsTaken: () => (tries < maxTries ? Effect.succeed(undefined) : Effect.fail(nothingFree)),
          LimitReached: ({ limit }) =>
            limit === "code_activation" && signed !== undefined
              ? unlessRepeated(signed.alreadyUsed)
              : Effect.fail(usedUp(limit)),
        }),
      )
      if (turn !== undefined) return turn
    }
  })

  return { activate }
})

/** Activates codes that give a free random id. */
export class RandomCodes extends Context.Service<RandomCodes, Effect.Success<typeof make>>()(
  "directory/RandomCodes",
) {
  static readonly layer = Layer.effect(RandomCodes, make)
}

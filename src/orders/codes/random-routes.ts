import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import {
  EventRefused,
  Forbidden,
  fieldFault,
  NotFound,
  Unprocessable,
  UnsupportedEmoji,
} from "../../../schema/errors.ts"
import { DisplayOrder } from "../../../schema/orders/order.ts"
import { CodeKeyKind, RandomYatActivateBody } from "../../../schema/orders/random-id-code.ts"
import { text, Uuid } from "../../../schema/wire-format.ts"
import { checkInOrganization, checkScope } from "../../accounts/permissions.ts"
import { Users } from "../../accounts/user-store.ts"
import type { Principal } from "../../http/principal.ts"
import { route } from "../../http/route.ts"
import { OrderViews } from "../order-view.ts"
import { keyRules } from "./activation-signatures.ts"
import { CodePubkeys } from "./code-pubkey-store.ts"
import { Codes } from "./code-store.ts"
import { RandomCodes } from "./random-codes.ts"

const shared = { group: "codes", auth: "JWT" } as const
const pubkeyParams = { code_id: Uuid, pubkey: text(128) }

const activate = route({
  ...shared,
  id: "activateRandomYatCode",
  summary: "Redeem a random id code",
  description:
    "Chooses a free id that matches the pattern of the code. The cart holds it until the checkout or until it expires. A code with public keys needs a signature of the caller's `alternate_id` by one of them; a code that is used up is 422.",
  method: "post",
  path: "/codes/:code_id/random_yat",
  scope: "cart:update",
  limit: "code",
  params: { code_id: text(64) },
  body: RandomYatActivateBody,
  success: DisplayOrder,
  errors: [EventRefused, NotFound, Unprocessable, UnsupportedEmoji],
  handler: ({ body, params: { code_id }, principal }) =>
    Effect.gen(function* () {
      const { order } = yield* RandomCodes.use((codes) =>
        atMostOnce(codes.activate(principal.userId, code_id, body)),
      )
      // The activation can create the first key of the user, so the user is read again.
      const user = yield* Users.use((users) => users.get(principal.userId))
      return yield* OrderViews.use((views) => views.show(order, user))
    }),
})

const getWritableCode = Effect.fnUntraced(function* (principal: Principal, codeId: string) {
  const code = yield* Codes.use((codes) => codes.find(codeId))
  if (code?.organization_id == null) yield* checkScope(principal, "code:write")
  else yield* checkInOrganization(principal, code.organization_id, "organizationCode:admin")
  if (code === undefined || code.deleted_at !== null) {
    return yield* new NotFound({ error: "Code not found." })
  }
  return code
})

const listingRefused = {
  exists: fieldFault(
    "pubkey",
    "uniqueness",
    "This code already lists this public key. To change its kind, remove the key first.",
  ),
  too_many: fieldFault(
    "pubkey",
    "too_many",
    "This code already has the maximum number of keys that can activate it. Remove a key first.",
  ),
}

const addPubkey = route({
  ...shared,
  id: "addPubkeyForCode",
  summary: "Allow a public key to activate a code",
  description:
    "`kind` says how the key signs: `ristretto255` (default) or `ed25519`, which is recommended because Ristretto255 signatures of existing clients can be forged.",
  method: "post",
  path: "/codes/:code_id/pubkeys/:pubkey",
  access: { organization: "organizationCode:admin", others: "code:write" },
  params: pubkeyParams,
  query: { kind: Schema.optionalKey(CodeKeyKind) },
  success: Schema.String,
  errors: [Forbidden, NotFound, Unprocessable],
  handler: ({ params, principal, query: { kind = "ristretto255" } }) => {
    const add = Effect.gen(function* () {
      const code = yield* getWritableCode(principal, params.code_id.toLowerCase())
      const pubkey = yield* keyRules[kind].read(params.pubkey)
      if (pubkey === undefined) return yield* fieldFault("pubkey", "invalid", keyRules[kind].refusal)
      const isOpen = kind === "ristretto255" && code.max_uses === null && code.organization_id === null
      const written = yield* CodePubkeys.use((keys) =>
        keys.add(code.id, { pubkey, kind }, { codeId: code.id, isOpen, pubkey }),
      )
      const { outcome } = written.outcome.rows[0]!
      if (outcome !== "added") return yield* listingRefused[outcome]
      return written
    })
    return Effect.gen(function* () {
      const { codeId, isOpen, pubkey } = (yield* atMostOnce(add)).keep
      if (isOpen)
        yield* Effect.logWarning(
          "a Ristretto255 key was listed on a code without max_uses: anyone with an alternate_id can use the code",
          { code: codeId, by: principal.userId },
        )
      return pubkey
    })
  },
})

const removePubkey = route({
  ...shared,
  id: "revokePubkeyForCode",
  summary: "Remove a public key from a code",
  description: "Signatures of the key no longer activate the code. 404 if the key is not listed.",
  method: "del",
  path: "/codes/:code_id/pubkeys/:pubkey",
  access: { organization: "organizationCode:admin", others: "code:write" },
  params: pubkeyParams,
  success: Schema.String,
  errors: [Forbidden, NotFound],
  handler: ({ params, principal }) =>
    Effect.gen(function* () {
      const { id } = yield* getWritableCode(principal, params.code_id.toLowerCase())
      const written = yield* CodePubkeys.use((keys) => keys.remove(id, params.pubkey.toLowerCase()))
      if (written.outcome.rows.length > 0) return written
      return yield* new NotFound({
        error: "This public key is not one of the keys that can activate this code.",
      })
    }).pipe(
      atMostOnce,
      Effect.map(({ rows }) => rows[0]!.pubkey),
    ),
})

export const randomCodes = [activate, addPubkey, removePubkey] as const

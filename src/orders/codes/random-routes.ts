import { Effect, Schema } from "effect"
import {
  EventRefused,
  Forbidden,
  fieldFault,
  NotFound,
  Unprocessable,
  UnsupportedEmoji,
} from "../../../schema/errors.ts"
import { DisplayOrder } from "../../../schema/orders/order.ts"
import { RandomYatActivateBody } from "../../../schema/orders/random-id-code.ts"
import { text, Uuid } from "../../../schema/wire-format.ts"
import { checkInOrganization, checkScope } from "../../accounts/permissions.ts"
import { Users } from "../../accounts/user-store.ts"
import type { Principal } from "../../http/principal.ts"
import { route } from "../../http/route.ts"
import { checkPubkey } from "../../keys/pubkeys.ts"
import { OrderViews } from "../order-view.ts"
import { CodePubkeys } from "./code-pubkey-store.ts"
import { Codes } from "./code-store.ts"
import { RandomCodes } from "./random-codes.ts"

const shared = { group: "codes", auth: "JWT" } as const
const pubkeyParams = { code_id: Uuid, pubkey: text(128) }

const activate = route({
  ...shared,
  id: "activateRandomYatCode",
  summary: "Redeem a random id code. The cart holds the free id until the checkout or until it expires",
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
      const { order } = yield* RandomCodes.use((codes) => codes.activate(principal.userId, code_id, body))
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

const addPubkey = route({
  ...shared,
  id: "addPubkeyForCode",
  summary: "Allow a public key to activate a code",
  method: "post",
  path: "/codes/:code_id/pubkeys/:pubkey",
  access: { organization: "organizationCode:admin", others: "code:write" },
  params: pubkeyParams,
  success: Schema.String,
  errors: [Forbidden, NotFound, Unprocessable],
  handler: ({ params, principal }) =>
    Effect.gen(function* () {
      const { id } = yield* getWritableCode(principal, params.code_id.toLowerCase())
      const pubkey = yield* checkPubkey(params.pubkey).pipe(
        Effect.mapError(() => fieldFault("pubkey", "invalid", "This is not an Ed25519 public key.")),
      )
      if (yield* CodePubkeys.use((keys) => keys.add(id, pubkey))) return pubkey
      return yield* fieldFault(
        "pubkey",
        "too_many",
        "This code already has the maximum number of keys that can activate it. Remove a key first.",
      )
    }),
})

const removePubkey = route({
  ...shared,
  id: "revokePubkeyForCode",
  summary: "Remove a public key from the keys that can activate a code",
  method: "del",
  path: "/codes/:code_id/pubkeys/:pubkey",
  access: { organization: "organizationCode:admin", others: "code:write" },
  params: pubkeyParams,
  success: Schema.String,
  errors: [Forbidden, NotFound],
  handler: ({ params, principal }) =>
    Effect.gen(function* () {
      const { id } = yield* getWritableCode(principal, params.code_id.toLowerCase())
      const pubkey = params.pubkey.toLowerCase()
      if (yield* CodePubkeys.use((keys) => keys.remove(id, pubkey))) return pubkey
      return yield* new NotFound({
        error: "This public key is not one of the keys that can activate this code.",
      })
    }),
})

export const randomCodes = [activate, addPubkey, removePubkey] as const

import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { fieldFault, invalidValue, NotFound, Unprocessable } from "../../schema/errors.ts"
import { text, Uuid } from "../../schema/wire-format.ts"
import { findActingUser } from "../accounts/acting-user.ts"
import { checkForUser } from "../accounts/permissions.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { UserList } from "../accounts/user-list-store.ts"
import { route } from "../http/route.ts"
import { type AddedPubkey, Pubkeys } from "./pubkey-store.ts"
import { checkPubkey, ownershipMessage, pubkeySigned } from "./pubkeys.ts"

const addAccess = { own: true, others: "user:write" } as const
const listAccess = { own: true, others: "user:show" } as const
const Pubkey = Schema.String
const pubkeyParam = text(200)

const readPubkey = (given: string) =>
  checkPubkey(given).pipe(
    Effect.catchTag("PubkeyInvalid", ({ reason }) =>
      Effect.fail(
        invalidValue(
          "path",
          "pubkey",
          reason === "malformed"
            ? "expected an Ed25519 public key as 64 hex digits"
            : "expected a valid Ed25519 public key; this is not a usable point of the curve",
        ),
      ),
    ),
  )

const add = Effect.fnUntraced(function* (userId: string, given: string) {
  const pubkey = yield* readPubkey(given)
  return yield* Pubkeys.use((pubkeys) => pubkeys.add(userId, pubkey))
})

const added =
  (userId: string) =>
  ({ keep: pubkey }: AddedPubkey) =>
    Effect.as(
      recordEvent({ event: "pubkey.added", userId: userId.toLowerCase(), details: { pubkey } }),
      pubkey,
    )

/**
 * Checks a signature that proves that the user has the private key, and then removes the public key from the account
 * of another user. This is needed because anyone can add the public key of another person to their own account.
 */
const claim = Effect.fnUntraced(function* (userId: string, given: string, signature: string) {
  const pubkey = yield* readPubkey(given)
  if (!pubkeySigned(pubkey, ownershipMessage(userId), signature)) {
    return yield* fieldFault(
      "signature",
      "invalid",
      "The signature is not valid. Sign the ownership message with this key.",
    )
  }
  yield* Pubkeys.use((pubkeys) => pubkeys.freeFor(userId, pubkey))
})

const generate = route({
  id: "createWallet",
  group: "keys",
  summary: "Generate a custodial key and return its public key",
  description:
    "The service keeps the private key encrypted and signs for its user. The response is the public key as text. A user has at least one custodial key from the registration on.",
  method: "post",
  path: "/pubkeys",
  auth: "JWT",
  scope: "userPubkeys:write",
  limit: "write",
  success: Pubkey,
  errors: [NotFound, Unprocessable],
  handler: ({ principal }) =>
    atMostOnce(Pubkeys.use((pubkeys) => pubkeys.generate(principal.userId))).pipe(
      Effect.map(({ keep }) => keep),
    ),
})

const addOwn = route({
  id: "addPubkey",
  group: "keys",
  summary: "Add a public key to your account",
  description:
    "`pubkey` is an Ed25519 public key as 64 hex digits. A key that you already have is 422 `uniqueness`. A key that another user has added needs `signature`, a signature of `Emoji Id Directory: this key belongs to the user {user_id}`.",
  method: "post",
  path: "/pubkeys/:pubkey",
  auth: "JWT",
  scope: "userPubkeys:write",
  sensitive: true,
  limit: "write",
  params: { pubkey: pubkeyParam },
  query: { signature: Schema.optionalKey(text(128)) },
  success: Pubkey,
  errors: [NotFound, Unprocessable],
  handler: ({ params, principal, query }) =>
    Effect.gen(function* () {
      if (query.signature !== undefined) yield* claim(principal.userId, params.pubkey, query.signature)
      return yield* add(principal.userId, params.pubkey)
    }).pipe(atMostOnce, Effect.flatMap(added(principal.userId))),
})

const listOwn = route({
  id: "getPubkeys",
  group: "keys",
  summary: "List your public keys, oldest first",
  description:
    "Each key is 64 hex digits. The list is never empty, because registration creates a custodial key.",
  method: "get",
  path: "/pubkeys",
  auth: "JWT",
  scope: "userPubkeys:list",
  success: Schema.Array(Pubkey),
  errors: [],
  handler: ({ principal }) => Pubkeys.use((pubkeys) => pubkeys.list(principal.userId)),
})

const addForUser = route({
  id: "addPubkeyForUser",
  group: "keys",
  summary: "Add a public key to your account, or to any user with the scope user:write",
  description:
    "For your own account it is the same as `POST /pubkeys/{pubkey}`. Another user requires the scope user:write.",
  method: "post",
  path: "/users/:user_id/pubkeys/:pubkey",
  auth: "JWT",
  scope: "userPubkeys:write",
  access: addAccess,
  sensitive: true,
  limit: "write",
  params: { user_id: Uuid, pubkey: pubkeyParam },
  success: Pubkey,
  errors: [NotFound, Unprocessable],
  handler: ({ params, principal }) =>
    findActingUser(principal, params.user_id, addAccess.others).pipe(
      Effect.andThen(add(params.user_id, params.pubkey)),
      atMostOnce,
      Effect.flatMap(added(params.user_id)),
    ),
})

const listForUser = route({
  id: "getPubkeysForUser",
  group: "keys",
  summary: "List a user's public keys",
  description: "Oldest first. Other users' keys require the scope user:show.",
  method: "get",
  path: "/users/:user_id/pubkeys",
  auth: "JWT",
  scope: "userPubkeys:list",
  access: listAccess,
  params: { user_id: Uuid },
  success: Schema.Array(Pubkey),
  errors: [NotFound],
  handler: ({ params, principal }) =>
    checkForUser(principal, params.user_id, listAccess).pipe(
      Effect.andThen(UserList.use((users) => users.check(params.user_id))),
      Effect.andThen(Pubkeys.use((pubkeys) => pubkeys.list(params.user_id))),
    ),
})

export const pubkeys = [generate, addOwn, listOwn, addForUser, listForUser] as const

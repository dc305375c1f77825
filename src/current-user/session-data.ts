import { Context, Effect, Layer } from "effect"
import type { LoadUser } from "../../schema/accounts/current-user.ts"
import type { Forbidden, NotFound, Unavailable } from "../../schema/errors.ts"
import { paged } from "../../schema/paging.ts"
import { checkAsOwner, subjectOf } from "../accounts/permissions.ts"
import { makeEach, toListItem } from "../directory/id-lists.ts"
import { EmojiIds } from "../directory/id-store.ts"
import type { Principal } from "../http/principal.ts"
import type { Access } from "../http/route.ts"
import { Wallets } from "../keys/wallet-store.ts"
import { TransferLists, transferList } from "../transfers/transfer-store.ts"
import { CurrentUsers } from "./current-users.ts"

const outgoingPage = { dir: "Desc", limit: 50, page: 0, sort: "created_at" } as const

const maxIds = 5000

export const loadAccess = {
  own: "userEmoji:list",
  organization: "organizationEmoji:list",
  others: "adminUser:load",
} as const satisfies Access

interface Whose {
  readonly user_id?: string
  readonly organization_id?: string
}

/**
 * Loads all data that a client shows first after login. With `organization_id`, the listed ids are those of the
 * organization instead of the user's own ids.
 */
export class SessionData extends Context.Service<
  SessionData,
  {
    load(principal: Principal, whose: Whose): Effect.Effect<LoadUser, NotFound | Forbidden | Unavailable>
  }
>()("directory/SessionData") {
  static readonly layer = Layer.effect(
    SessionData,
    Effect.gen(function* () {
      const currentUsers = yield* CurrentUsers
      const ids = yield* EmojiIds
      const transfers = yield* TransferLists
      const wallets = yield* Wallets

      return SessionData.of({
        load: Effect.fnUntraced(function* (principal, whose) {
          const subject = yield* subjectOf(principal, whose, loadAccess)
          const userId = subject.kind === "user" ? subject.id.toLowerCase() : principal.userId
          if (userId === principal.userId && !principal.scopes.has(loadAccess.others)) {
            // The response contains the user's transfers, so an API key needs the same scope here as for GET
            // /transfers.
            yield* checkAsOwner(principal, "emoji::transfer")
          }
          const loaded = yield* Effect.all(
            {
              current_user:
                userId === principal.userId ? currentUsers.ofCaller(principal) : currentUsers.ofUser(userId),
              registered: ids.list(
                subject.kind === "user" ? { ownedBy: userId } : { organizationId: subject.id },
                maxIds,
              ),
              incoming: transfers.listIncoming(userId, false),
              outgoing: transfers.listOutgoing(userId, outgoingPage),
              wallets: wallets.list(userId),
            },
            { concurrency: "unbounded" },
          )
          const { incoming, outgoing, registered, ...rest } = loaded
          const { partner_transaction_id } = rest.current_user
          const generations = new Set(registered.map(({ generation }) => generation))
          return {
            ...rest,
            ...(partner_transaction_id === undefined ? {} : { partner_transaction_id }),
            extended_list: yield* makeEach(registered, toListItem),
            editions: [...generations].sort((a, b) => a - b),
            incoming_transfers: incoming.rows,
            outgoing_transfers: paged(transferList, outgoingPage, outgoing, outgoing.rows),
          }
        }),
      })
    }),
  )
}

import { Context, Effect, Layer } from "effect"
import type { LoadUser } from "../../schema/current-user.ts"
import type { Forbidden, NotFound, Unavailable } from "../../schema/errors.ts"
import { paged } from "../../schema/paging.ts"
import type { Principal } from "../http/principal.ts"
import { OwnedIds } from "../store/owned-ids.ts"
import { TransferLists } from "../store/transfers.ts"
import { Wallets } from "../store/wallets.ts"
import { CurrentUsers } from "./current-users.ts"
import { subjectOf } from "./permissions.ts"

const outgoingPage = { dir: "Desc", limit: 50, page: 0, sort: "created_at" } as const

interface Whose {
  readonly user_id?: string
  readonly organization_id?: string
}

/** Everything a client shows first. An organization's ids come with the caller's own person. */
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
      const ownedIds = yield* OwnedIds
      const transfers = yield* TransferLists
      const wallets = yield* Wallets

      return SessionData.of({
        load: Effect.fnUntraced(function* (principal, whose) {
          const subject = yield* subjectOf(principal, whose, {
            user: "adminUser:load",
            organization: "organizationEmoji:list",
          })
          const userId = subject.kind === "user" ? subject.id.toLowerCase() : principal.userId
          const loaded = yield* Effect.all(
            {
              current_user:
                userId === principal.userId ? currentUsers.ofCaller(principal) : currentUsers.ofUser(userId),
              extended_list: ownedIds.list(subject),
              incoming_transfers: transfers.listIncoming(userId, false),
              outgoing: transfers.listOutgoing(userId, outgoingPage),
              wallets: wallets.list(userId),
            },
            { concurrency: "unbounded" },
          )
          const { outgoing, ...rest } = loaded
          const generations = new Set(rest.extended_list.map(({ generation }) => generation))
          return {
            ...rest,
            editions: [...generations].sort((a, b) => a - b),
            outgoing_transfers: paged(outgoing.data, outgoingPage, outgoing.total),
          }
        }),
      })
    }),
  )
}

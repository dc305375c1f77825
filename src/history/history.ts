import { Context, Effect, Layer } from "effect"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import type { ChangeDetails, HistoryEntry } from "../../schema/directory/history.ts"
import { formatTag } from "../../schema/directory/record-tag.ts"
import type { NotFound, Unavailable } from "../../schema/errors.ts"
import type { Page, PageRequest } from "../../schema/paging.ts"
import { mayInOrganization } from "../accounts/permissions.ts"
import { idAbsent } from "../directory/edit-outcome.ts"
import { listAccess } from "../directory/id-lists.ts"
import type { Principal } from "../http/principal.ts"
import { makeHistoryStore, type Reader, type StoredChange } from "./history-store.ts"

interface IdHistory {
  readonly version: number
  readonly completeSince: string
  readonly isOwner: boolean
  readonly page: Page<HistoryEntry>
}

/** A user id that owns nothing: the caller may not list the own ids. */
const noUserId = "00000000-0000-0000-0000-000000000000"

/** The caller may see the details of the ids that the caller may list. */
const readerOf = (principal: Principal): Reader => ({
  userId: principal.scopes.has(listAccess.own) ? principal.userId : noUserId,
  organizations: [...principal.organizations.keys()].filter((id) =>
    mayInOrganization(principal, id, listAccess.organization),
  ),
  isAdmin: principal.scopes.has(listAccess.others),
})

const owners = {
  kept: undefined,
  got: { before: "other", after: "current" },
  gave: { before: "current", after: "other" },
} as const

/** Returns the details that the present owner sees. Of another owner, no key and no removed record is returned. */
const changesOf = ({ details, kind, part }: StoredChange): ChangeDetails | undefined => {
  if (part === null) return undefined
  const { added, pubkey_after, pubkey_before, removed, signed, store_key } = details ?? {}
  const owner = owners[part]
  const records = (list: typeof added) => list?.map((record) => ({ ...record, tag: formatTag(record.tag) }))
  const before = part === "got" ? undefined : pubkey_before
  const after = part === "gave" ? undefined : pubkey_after
  const hasKey = kind === "owner" || kind === "key" || after !== undefined
  return {
    ...(added !== undefined && { added: records(added) ?? [] }),
    ...(removed !== undefined && part !== "got" && { removed: records(removed) ?? [] }),
    ...(store_key !== undefined && { store_key }),
    ...(signed !== undefined && { signed }),
    ...(owner !== undefined && { owner }),
    ...(hasKey && { pubkey: { before: before ?? null, after: after ?? null } }),
  }
}

const toEntry = (change: StoredChange): HistoryEntry => {
  const { at, kind, version } = change
  const changes = changesOf(change)
  return { version, kind, at, ...(changes !== undefined && { changes }) }
}

/** Reads the history of emoji ids. */
export class Histories extends Context.Service<
  Histories,
  {
    /** Fails with 404 if the id is not registered. */
    read(
      id: EmojiId,
      principal: Principal | null,
      request: PageRequest,
    ): Effect.Effect<IdHistory, NotFound | Unavailable>
  }
>()("directory/Histories") {
  static readonly layer = Layer.effect(
    Histories,
    Effect.gen(function* () {
      const store = yield* makeHistoryStore
      return Histories.of({
        read: Effect.fnUntraced(function* ({ canonical }, principal, request) {
          const facts = yield* store.find(canonical, principal === null ? undefined : readerOf(principal))
          if (facts === undefined) return yield* idAbsent()
          const page = yield* store.page(canonical, request, facts.isOwner)
          return { ...facts, page: { ...page, rows: page.rows.map(toEntry) } }
        }),
      })
    }),
  )
}

import { Context, Effect, Layer } from "effect"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import type { ChangeDetails, HistoryEntry } from "../../schema/directory/history.ts"
import { formatTag } from "../../schema/directory/records/record-tag.ts"
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

type Records = NonNullable<StoredChange["details"]>["added"]

const recordsOf = (name: "added" | "removed", records: Records | undefined) =>
  records == null
    ? {}
    : {
        [name]: records.map(({ data, hash, tag }) => ({
          tag: formatTag(tag),
          hash,
          ...(data !== null && { data }),
        })),
      }

/** Returns the details that the present owner sees. Of another owner, no key and no removed record is returned. */
const changesOf = ({ details, kind, part }: StoredChange): ChangeDetails | undefined => {
  if (part === null) return undefined
  const owner = owners[part]
  const before = part === "got" ? null : (details?.pubkey_before ?? null)
  const after = part === "gave" ? null : (details?.pubkey_after ?? null)
  const hasKey = kind === "owner" || kind === "key" || after !== null
  return {
    ...recordsOf("added", details?.added),
    ...(part === "got" ? {} : recordsOf("removed", details?.removed)),
    ...(details?.store_key != null && { store_key: details.store_key }),
    ...(details?.signed != null && { signed: details.signed }),
    ...(owner !== undefined && { owner }),
    ...(hasKey && { pubkey: { before, after } }),
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

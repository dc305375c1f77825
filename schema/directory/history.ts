import { Schema } from "effect"
import { arrayList, arrayQuery } from "../paging.ts"
import { DateTime } from "../wire-format.ts"

/** The kinds of changes of a registered id. Each change gives the id a new version. */
export const changeKinds = [
  "registered",
  "records",
  "data",
  "signature",
  "owner",
  "key",
  "minted",
  "burned",
] as const

const kindText =
  "registered: the id was registered. records: records were added or removed. data: an entry of the JSON store was written. signature: the records were signed again. owner: the id got another owner. key: the id got another key of the same owner. minted, burned: its token was recorded or destroyed."

const maxEntries = 200
/** A change before the start of the history has no version, so it is sorted by a number below all versions. */
export const historyList = { ...arrayList("history", "Desc", ["integer"], maxEntries), limit: 50 }
export const historyQuery = arrayQuery(historyList)

const ChangedRecord = Schema.Struct({
  tag: Schema.String,
  hash: Schema.String,
  data: Schema.optionalKey(Schema.String).annotate({
    description: "Missing if the change has more than 16 KB of data. Payment addresses are kept first.",
  }),
}).annotate({ identifier: "HistoryRecord" })

/** The present owner of the id, or another owner. No entry reveals who another owner is. */
const Owner = Schema.Literals(["current", "other"])

export const ChangeDetails = Schema.Struct({
  added: Schema.optionalKey(Schema.Array(ChangedRecord)),
  removed: Schema.optionalKey(Schema.Array(ChangedRecord)),
  store_key: Schema.optionalKey(Schema.String),
  signed: Schema.optionalKey(Schema.Boolean).annotate({
    description: "Whether the owner signed the records of this version.",
  }),
  owner: Schema.optionalKey(Schema.Struct({ before: Owner, after: Owner })),
  pubkey: Schema.optionalKey(
    Schema.Struct({ before: Schema.NullOr(Schema.String), after: Schema.NullOr(Schema.String) }),
  ),
}).annotate({ identifier: "HistoryChanges" })
export type ChangeDetails = typeof ChangeDetails.Type

export const HistoryEntry = Schema.Struct({
  version: Schema.NullOr(Schema.Int).annotate({
    description: "The version of the id after the change. Null for a change before `complete_since`.",
  }),
  kind: Schema.Literals(changeKinds).annotate({ description: kindText }),
  at: DateTime,
  changes: Schema.optionalKey(ChangeDetails).annotate({
    description: "What was changed. Only for the owner, and only for the time of this owner.",
  }),
}).annotate({ identifier: "HistoryEntry" })
export type HistoryEntry = typeof HistoryEntry.Type

export const HistoryResponse = Schema.Struct({
  view: Schema.Literals(["public", "owner"]).annotate({
    description: "`owner`: the entries contain `changes`, because the caller may read them.",
  }),
  version: Schema.Int,
  complete_since: DateTime.annotate({
    description: "All changes since this time are listed. Of earlier ones, the list has what is still known.",
  }),
  result: Schema.Array(HistoryEntry),
}).annotate({ identifier: "HistoryResponse" })

/** The data of the event `emoji_ids.changed` of the live channel `emoji_ids`. */
export const IdChangedEvent = Schema.Struct({
  emoji_id: Schema.String,
  version: Schema.Int,
  kind: Schema.Literals([...changeKinds, "released"]).annotate({
    description: `${kindText} released: the id was removed from the directory.`,
  }),
  at: DateTime,
}).annotate({ identifier: "EmojiIdChanged" })
export type IdChangedEvent = typeof IdChangedEvent.Type

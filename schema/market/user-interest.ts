import { Schema } from "effect"
import { pageOf } from "../paging.ts"
import { DateTime, text, Uuid } from "../wire-format.ts"

export const UserInterest = Schema.Struct({
  id: Uuid,
  user_id: Uuid,
  emoji_id: Schema.String,
  created_at: DateTime,
  updated_at: DateTime,
}).annotate({ identifier: "UserInterest" })
export type UserInterest = typeof UserInterest.Type

export const ListOfUserInterest = pageOf(UserInterest, "ListOfUserInterest")

export const NewUserInterestParameters = Schema.Struct({ emoji_id: text(200) }).annotate({
  identifier: "NewUserInterestParameters",
})

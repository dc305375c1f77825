import { type ExpiredRows, expiredADayAgo } from "../../postgres/prune.ts"

export const expiredMagicLinks: ExpiredRows = {
  table: "magic_link",
  key: ["token_hash"],
  isExpired: expiredADayAgo,
}

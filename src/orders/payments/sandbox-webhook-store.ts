import type { ExpiredNumberedRows } from "../../postgres/prune.ts"

export const deliveredSandboxWebhooks: ExpiredNumberedRows = {
  table: "sandbox_webhook",
  isExpired: (q) => q`delivered_at < now() - interval '7 days'`,
  isRecent: (q) => q`delivered_at >= now() - interval '7 days'`,
}

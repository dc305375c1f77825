import { Effect } from "effect"
import { AppConfig } from "../config/read-config.ts"
import type { DemoItem, DemoKind } from "./demo-item-store.ts"
import { hasDemoSecret } from "./logins.ts"

const isUsable = Effect.fnUntraced(function* (item: DemoItem) {
  switch (item.kind) {
    case "user":
      // Startup sets ADMIN_PASSWORD for the user of ADMIN_EMAIL before the server accepts requests, so the demo password
      // of this user does not work.
      if (item.shown === (yield* AppConfig).adminEmail) return false
      return item.usable && (yield* hasDemoSecret(item))
    case "client":
      return yield* hasDemoSecret(item)
    case "code":
    case "lootbox":
      return item.usable
    // Organizations and ids give no access. The budget of the demo organization serves only the codes of its members.
    case "organization":
    case "id":
      return false
  }
})

/** Returns the demo items that would give strangers access or free goods in production. */
export const findUsable = (left: ReadonlyArray<DemoItem>) => Effect.filter(left, isUsable)

const plural = (count: number, noun: string) => (count === 1 ? `1 ${noun}` : `${count} ${noun}es`)

/** Describes usable demo data in one line for the operator. */
export const describeUsable = (usable: ReadonlyArray<DemoItem>): string => {
  const shown = (kind: DemoKind) =>
    usable
      .filter((item) => item.kind === kind)
      .map((item) => item.shown)
      .join(", ")
  const boxes = usable.filter(({ kind }) => kind === "lootbox").length
  const parts = [
    ...(shown("user") === "" ? [] : [`logins ${shown("user")}`]),
    ...(shown("client") === "" ? [] : [`OAuth client ${shown("client")}`]),
    ...(shown("code") === "" ? [] : [`codes ${shown("code")}`]),
    ...(boxes === 0 ? [] : [plural(boxes, "lootbox")]),
  ]
  return `demo data is still usable (${parts.join("; ")}): remove it with "npm run cli -- demo remove" before a production start`
}

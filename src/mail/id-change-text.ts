import type { Mail } from "../../schema/turn.ts"
import type { OutboxMail } from "./mail-layout.ts"

const textsOf = (data: Mail["data"], name: string): ReadonlyArray<string> => {
  const list = data[name]
  return Array.isArray(list) ? list.map(String) : []
}

/** The mail about changes of emoji ids. The changes are described by `src/history/id-notices.ts`. */
export const idsChanged = (data: Mail["data"]): OutboxMail => {
  const lines = textsOf(data, "lines")
  const more = Number(data["total"] ?? 0) - lines.length
  const link = String(data["link"] ?? "")
  return {
    subject: "Your emoji ids were changed",
    parts: [
      "Security notice: these changes were made. The newest are at the top, after changes of the owner. All times are UTC.",
      { list: lines },
      ...(more > 0
        ? [
            `There were ${more} more changes. The number of changes of each id:`,
            { list: textsOf(data, "emoji_ids") },
          ]
        : []),
      "If this was you, nothing needs to be done.",
      "If this was not you: change your password, end all other sessions and delete API keys that you do not know. Then check the records of your emoji ids. If an emoji id was taken from you, contact us immediately.",
      { link, label: "Sign in and check your emoji ids" },
      {
        small: "You get at most one such email an hour. Changes within this hour are listed in the next one.",
      },
    ],
  }
}

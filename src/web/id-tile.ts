import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { type Html, html } from "./html.ts"

/**
 * Returns the names of the emoji of an id, for screen readers and tooltips. A text that is not a valid id is returned
 * unchanged.
 */
export const spokenName = (id: string): string => {
  const parsed = parseEmojiId(id)
  return parsed._tag === "EmojiId"
    ? parsed.shortNames.map((name) => name.replaceAll("_", " ")).join(", ")
    : id
}

const lengthOf = (id: string): number => {
  const parsed = parseEmojiId(id)
  return parsed._tag === "EmojiId" ? parsed.length : 6
}

export const bigId = (id: string, size: "" | "huge" = ""): Html =>
  html`<span class="emoji ${size} n${lengthOf(id)}" role="img" aria-label="${spokenName(id)}">${id}</span>`

/** A button whose value is an id. Its accessible label also contains the text `below` the id, such as the price. */
export const idButton = (name: string, id: string, below: string): Html =>
  html`<button class="tile" name="${name}" value="${id}" aria-label="${[...new Set([spokenName(id), below])].join(", ")}"><span class="emoji n${lengthOf(id)}" aria-hidden="true">${id}</span><span class="small">${below}</span></button>`

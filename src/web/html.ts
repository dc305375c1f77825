const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? "")

/** Markup that is safe to send, because every value that was inserted into it is escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | false | null | undefined | ReadonlyArray<Content>

const render = (content: Content): string => {
  if (content instanceof Html) return content.text
  if (Array.isArray(content)) return content.map(render).join("")
  return content === false || content === null || content === undefined ? "" : escapeText(String(content))
}

/** A template tag for markup. Inserted values are escaped, unless they are Html. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Content>): Html =>
  new Html(parts.map((part, i) => part + (i < values.length ? render(values[i]) : "")).join(""))

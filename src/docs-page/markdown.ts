import { type Content, type Html, html } from "../web/html.ts"
import { codeBlock, prose } from "./layout.ts"

/**
 * Shows the Markdown of this project's own guides: headings, paragraphs, lists, tables, code, links and strong text. A
 * block ends at an empty line, except code.
 */

/** The label of a code block, which begins with three backticks, a language, and for a complete file its name. */
const labelOf = (first: string): string => {
  const [language = "", name] = first.slice(3).split(" ")
  if (name !== undefined) return `${name}.${language}`
  return language === "sh" ? "Shell" : language
}

/** The id of a heading, as on other sites that show Markdown. */
export const headingId = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(/\s+/g, "-")

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .replaceAll("\\|", "\0")
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.replaceAll("\0", "|").trim())

export const tableView = (head: ReadonlyArray<Content>, rows: ReadonlyArray<ReadonlyArray<Content>>): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead><tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}
</tbody></table></div>`

const itemView = (item: string): Html => html`<li>${prose(item.replaceAll(/\s+/g, " "))}</li>`

const blockView = (block: string): Content => {
  const lines = block.split("\n")
  const [first = ""] = lines
  const heading = /^(#{1,4}) (.*)$/.exec(first)
  if (heading !== null) {
    const title = heading[2] ?? ""
    const id = headingId(title)
    return (heading[1] ?? "").length === 2
      ? html`<h2 id="${id}">${prose(title)}</h2>`
      : html`<h3 id="${id}">${prose(title)}</h3>`
  }
  if (first.startsWith("```")) return codeBlock(lines.slice(1, -1).join("\n"), labelOf(first))
  if (first.startsWith("|")) {
    const [head = [], , ...rows] = lines.map(cellsOf)
    return tableView(
      head.map(prose),
      rows.map((row) => row.map(prose)),
    )
  }
  if (first.startsWith("- ")) {
    const items = block.slice(2).split(/\n- /)
    return html`<ul>${items.map(itemView)}</ul>`
  }
  if (/^1\. /.test(first)) {
    const items = block.slice(3).split(/\n\d+\. /)
    return html`<ol>${items.map(itemView)}</ol>`
  }
  return html`<p>${prose(lines.join(" "))}</p>`
}

const codeFence = /^(```[^\n]*\n[\s\S]*?\n```)$/m

const blocksOf = (text: string): ReadonlyArray<string> =>
  text
    .split(codeFence)
    .flatMap((part) => (part.startsWith("```") ? [part] : part.split(/\n{2,}/).map((block) => block.trim())))

/**
 * Shows a guide without its title. `linkOf` returns where a link leads on the served pages. A link without such a place is
 * shown as text.
 */
export const markdown = (text: string, linkOf: (path: string) => string | undefined): Html => {
  const linked = text
    .replaceAll(/<!--.*?-->\n?/g, "")
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (all, name: string, path: string) => {
      const place = linkOf(path)
      return place === undefined ? name : all.replace(`(${path})`, `(${place})`)
    })
  return html`${blocksOf(linked)
    .filter((block) => block !== "" && !block.startsWith("# "))
    .map(blockView)}`
}

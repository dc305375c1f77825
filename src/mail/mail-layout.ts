import { type Html, html } from "../web/html.ts"

/** A part of a mail. Each part is rendered as plain text and as HTML. An `emoji` part is rendered only in the HTML. */
export type Part =
  | string
  | { readonly emoji: string }
  | { readonly code: string }
  | { readonly link: string; readonly label: string }
  | { readonly items: ReadonlyArray<readonly [name: string, price: string]>; readonly total: string }
  | { readonly small: string }
  | { readonly list: ReadonlyArray<string> }

export interface OutboxMail {
  readonly subject: string
  readonly parts: ReadonlyArray<Part>
}

export interface Rendered {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const partText = (part: Part): string => {
  if (typeof part === "string") return part
  if ("emoji" in part) return ""
  if ("code" in part) return `Your code: ${part.code}`
  if ("link" in part) return `${part.label}:\n\n${part.link}`
  if ("small" in part) return part.small
  if ("list" in part) return part.list.map((line) => `- ${line}`).join("\n")
  const lines = part.items.map(([name, price]) => `- ${name}  ${price}`.trimEnd())
  return [...lines, "", `Total: ${part.total}`].join("\n")
}

// The styles are inline, because many mail programs ignore style sheets. The colours work on light and dark
// backgrounds.
const styles = {
  page: "margin:0;padding:24px 16px;background:#f3f4f7",
  card: "max-width:520px;margin:0 auto;padding:28px;border-radius:14px;background:#ffffff;color:#16181d;font:16px/1.5 system-ui,'Segoe UI',Roboto,sans-serif",
  emoji: "margin:0 0 12px;font-size:44px;line-height:1.2",
  paragraph: "margin:0 0 14px",
  small: "margin:18px 0 0;font-size:14px;color:#5b6270",
  code: "margin:0 0 14px;font:700 30px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.18em",
  button:
    "display:inline-block;padding:12px 20px;border-radius:10px;background:#4338ca;color:#ffffff;font-weight:650;text-decoration:none",
  address: "margin:0 0 14px;font-size:13px;color:#5b6270;word-break:break-all",
  cell: "padding:6px 0;border-bottom:1px solid #d9dde4",
  price: "padding:6px 0;border-bottom:1px solid #d9dde4;text-align:right",
}

const partHtml = (part: Part): Html => {
  if (typeof part === "string") return html`<p style="${styles.paragraph}">${part}</p>`
  if ("emoji" in part) return html`<p style="${styles.emoji}">${part.emoji}</p>`
  if ("code" in part) return html`<p style="${styles.code}">${part.code}</p>`
  if ("small" in part) return html`<p style="${styles.small}">${part.small}</p>`
  if ("link" in part) {
    return html`<p style="${styles.paragraph}"><a href="${part.link}" style="${styles.button}">${part.label}</a></p>
<p style="${styles.address}">${part.link}</p>`
  }
  if ("list" in part) {
    const item = (line: string) => html`<li>${line}</li>`
    return html`<ul style="${styles.paragraph}">${part.list.map(item)}</ul>`
  }
  const row = ([name, price]: readonly [string, string]) =>
    html`<tr><td style="${styles.cell}">${name}</td><td style="${styles.price}">${price}</td></tr>`
  return html`<table role="presentation" width="100%" cellspacing="0" style="margin:0 0 14px">${part.items.map(row)}${row(["Total", part.total])}</table>`
}

/** Renders a mail as plain text only. */
export const renderText = ({ parts, subject }: OutboxMail): Omit<Rendered, "html"> => ({
  subject,
  text: `${parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n\n")}\n`,
})

/** Renders a mail as plain text and as HTML. The HTML has no images, scripts or tracking. */
export const renderMail = ({ parts, subject }: OutboxMail): Rendered => ({
  ...renderText({ parts, subject }),
  html: html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="${styles.page}"><div style="${styles.card}">${parts.map(partHtml)}</div></body></html>`.text,
})

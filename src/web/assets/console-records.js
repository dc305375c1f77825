import { h } from "./console-dom.js"

/** @param {string} tag @param {Record<string, string>} categories */
export const categoryName = (tag, categories) => categories[tag] ?? tag

/** @param {{tag: string, data: string}} record @param {Record<string, string>} categories */
export const recordView = ({ data, tag }, categories) => {
  const [value = "", ...rest] = data.split("|")
  const more = rest.filter((part) => part !== "" && part !== "t")
  const isDefault = rest.length >= 3 && rest.at(-1) === "t"
  const isOther = tag === "0x3fff"
  const name = isOther ? value : categoryName(tag, categories)
  const shown = isOther ? (rest[0] ?? "") : tag === "0x1004" ? `0x${value}` : value
  const details = isOther ? more.slice(1) : more
  return h(
    "span",
    { class: "record" },
    h(
      "span",
      { class: "record-name" },
      h("strong", {}, name),
      isDefault && h("span", { class: "badge" }, "default"),
    ),
    h("code", {}, shown),
    details.length > 0 && h("span", { class: "soft small" }, details.join(" · ")),
  )
}

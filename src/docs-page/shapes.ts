import { type Content, type Html, html } from "../web/html.ts"
import { type Operation, referred, type Shape, whole } from "./document.ts"
import { prose } from "./layout.ts"

const maxValuesShown = 16

const either = (views: ReadonlyArray<Content>): Html =>
  html`${views.map((view, i) => (i === 0 ? view : html` or ${view}`))}`

const valuesView = (values: ReadonlyArray<unknown>): Html =>
  html`${either(values.slice(0, maxValuesShown).map((value) => html`<code>${JSON.stringify(value)}</code>`))}${values.length > maxValuesShown && ` and ${values.length - maxValuesShown} more`}`

/**
 * Describes the bounds of a value, for example ", 1 to 6". A lower bound of 0, and bounds of the number format itself,
 * such as 2^53 - 1, are left out.
 */
const bounds = (least: number | undefined, most: number | undefined, unit = ""): string => {
  const isChosen = (bound: number | undefined) =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER
  const [from, to] = [isChosen(least) && least !== 0 ? least : undefined, isChosen(most) ? most : undefined]
  if (from === undefined && to === undefined) return ""
  if (from === to) return `, ${from}${unit}`
  if (from === undefined) return `, at most ${to}${unit}`
  return to === undefined ? `, at least ${from}${unit}` : `, ${from} to ${to}${unit}`
}

const formats: Readonly<Record<string, string>> = { "date-time": "time", uuid: "uuid", uri: "URL" }

/** Describes a shape in words. A named schema is shown as a link to its description. */
export const shapeView = (given: Shape): Content => {
  const name = referred(given)
  if (name !== undefined) return html`<a href="/docs/schemas#schema-${name}">${name}</a>`
  const shape = whole(given)
  if (shape.const !== undefined) return valuesView([shape.const])
  if (shape.enum !== undefined) return valuesView(shape.enum)
  const choices = shape.anyOf ?? shape.oneOf
  if (choices !== undefined) return either(choices.map(shapeView))
  switch (shape.type) {
    case "string":
      return `${formats[shape.format ?? ""] ?? "text"}${bounds(shape.minLength, shape.maxLength, " characters")}`
    case "integer":
    case "number":
      return `${shape.type}${bounds(shape.minimum, shape.maximum)}`
    case "array":
      return html`list of ${shape.items === undefined ? "anything" : shapeView(shape.items)}${bounds(shape.minItems, shape.maxItems)}`
    case "object":
      return shape.properties === undefined && typeof shape.additionalProperties === "object"
        ? html`map to ${shapeView(shape.additionalProperties)}`
        : "object"
    default:
      return shape.type ?? "anything"
  }
}

const notesView = (description: string | undefined): Content =>
  description !== undefined && html`<br><span class="soft">${prose(description)}</span>`

interface Member {
  readonly name: string
  readonly shape: Shape
  readonly isRequired: boolean
}

/**
 * Lists the members of an object. If a member is an inline object (not a `$ref`) or a list of inline objects, the
 * members of this object follow it.
 */
const membersOf = (shape: Shape, within = ""): ReadonlyArray<Member> =>
  Object.entries(shape.properties ?? {}).flatMap(([name, given]) => {
    const member = whole(given)
    const path = `${within}${name}`
    return [
      { name: path, shape: given, isRequired: shape.required?.includes(name) ?? false },
      ...membersOf(member, `${path}.`),
      ...membersOf(whole(member.items ?? {}), `${path}[].`),
    ]
  })

export const membersView = (given: Shape): Content => {
  const shape = whole(given)
  if (shape.properties === undefined) return html`<p>${shapeView(given)}</p>`
  return html`<table><thead><tr><th>member</th><th>type</th></tr></thead><tbody>
${membersOf(shape).map((member) => html`<tr><td><code>${member.name}</code>${!member.isRequired && html`<br><span class="soft">optional</span>`}</td><td>${shapeView(member.shape)}${notesView(member.shape.description)}</td></tr>`)}
</tbody></table>`
}

export const parametersView = (parameters: Operation["parameters"]): Content =>
  parameters.length > 0 &&
  html`<table><thead><tr><th>parameter</th><th>type</th></tr></thead><tbody>
${parameters.map((parameter) => html`<tr><td><code>${parameter.name}</code><br><span class="soft">${parameter.in}${!parameter.required && ", optional"}</span></td><td>${shapeView(parameter.schema)}${notesView(parameter.description)}</td></tr>`)}
</tbody></table>`

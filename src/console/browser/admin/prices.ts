import type { MarketParameters } from "../../../client/api-types.ts"
import { actionForm } from "../parts/actions.ts"
import { confirmAction } from "../parts/dialog.ts"
import { field, fill, h } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { PageError } from "../platform/http.ts"
import { may } from "../platform/session.ts"
import { readId } from "../vocabulary.ts"
import { priceFields, problemOf, readFields } from "./price-fields.ts"
import { countChanged, drawPreview, type Example, readExample, readExamples } from "./price-preview.ts"

const explanation = () =>
  h(
    "p",
    { class: "soft" },
    "The price of an id follows from its rhythm score, a number from 1 to 100: short ids, popular emoji and repeated patterns have a high score. Between two price points the price grows steadily. New prices apply from the next search and checkout on. Orders that wait for payment keep their price.",
  )

/** Draws the parameters of the prices with a preview, which shows the effect of a change before it is saved. */
export const drawPrices: Section["draw"] = async (place) => {
  const [saved, first] = await Promise.all([call("GET /price_parameters"), readExamples()])
  let current: MarketParameters = saved
  let examples: ReadonlyArray<Example> = first
  const preview = h("div", {})
  const status = h("p", { class: "small", role: "status" })
  const update = (): void => {
    const next = readFields(form)
    const problem = problemOf(next)
    if (problem !== undefined) {
      fill(status, h("span", { class: "bad" }, problem))
      return
    }
    const changed = countChanged(examples, current, next)
    fill(
      status,
      changed === 0
        ? "The examples keep their prices."
        : `${changed} of ${examples.length} examples get another price. Nothing is saved yet.`,
    )
    fill(preview, drawPreview(examples, current, next))
  }
  const fields = h("div", {})
  const drawFields = () =>
    fill(
      fields,
      priceFields(current, () => update()),
    )
  const save = async (): Promise<void> => {
    const body = readFields(form)
    const problem = problemOf(body)
    if (problem !== undefined) throw new PageError(problem)
    const changed = countChanged(examples, current, body)
    const isSure = await confirmAction({
      question: "Replace the prices of all ids?",
      consequence: `${changed} of ${examples.length} examples get another price. Buyers see the new prices at once.`,
      yes: "Save prices",
    })
    if (!isSure) return
    current = await call("PUT /price_parameters", { body })
    notify("The new prices were saved. They apply from the next search on.", "good")
    drawFields()
    update()
  }
  const reset = () => {
    drawFields()
    update()
  }
  const form = actionForm(
    {
      label: "Save prices",
      sign: "check",
      name: "Prices",
      submit: save,
      beside: h("button", { type: "button", class: "plain", onclick: reset }, "Undo changes"),
    },
    fields,
  )
  form.addEventListener("input", update)
  drawFields()
  const tryForm = actionForm(
    {
      label: "Add to the preview",
      plain: true,
      name: "Example",
      submit: async (values, ownForm) => {
        const example = await readExample(await readId(values.text("emoji_id")))
        examples = [example, ...examples.filter(({ id }) => id !== example.id)]
        ownForm.reset()
        update()
      },
    },
    field("Another id", { name: "emoji_id", maxlength: "200", required: true }, "Type emoji or their names."),
  )
  fill(
    place,
    explanation(),
    may("adminPriceParameters:write")
      ? h("section", { class: "card" }, h("h2", {}, "Price points"), form)
      : h("p", {}, "You may see the prices, but not change them."),
    h("section", { class: "card" }, h("h2", {}, "Preview"), status, preview, tryForm),
  )
  update()
}

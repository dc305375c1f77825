import { actionButton, actionForm, confirmButton } from "../parts/actions.js"
import { badge, choice, emojiLine, empty, field, fill, h } from "../parts/dom.js"
import { counted, dollars } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { drawPaged, table } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"

const kinds = { Available: "good", Owned: "warn", Used: "", Draft: "" }

const change = (label, action, again) =>
  actionButton(
    label,
    async () => {
      await action()
      await again()
    },
    { class: "plain small" },
  )

const boxActions = (box, again) =>
  h(
    "div",
    { class: "cell-actions" },
    box.status === "Draft" &&
      change("Offer for sale", () => call("PATCH", `/lootboxes/${box.id}`, { status: "Available" }), again),
    (box.status === "Draft" || box.status === "Available") &&
      confirmButton(
        "Delete",
        { question: "Delete this lootbox?", consequence: "Its ids become available again." },
        async () => {
          await call("DELETE", `/lootboxes/${box.id}`)
          await again()
        },
        { class: "plain small" },
      ),
  )

const number = (label, name, value, hint) =>
  field(label, { name, type: "number", min: "1", max: "100", value, required: true }, hint)

const typeForm = (again) =>
  actionForm(
    {
      label: "Create type",
      name: "New lootbox type",
      submit: async (values, form) => {
        await call("POST", "/lootbox_type", {
          name: values.name,
          description: values.description,
          config: {
            size: Number(values.size),
            min_length: Number(values.min_length),
            max_length: Number(values.max_length),
            min_base_score: Number(values.min_base_score),
            max_base_score: Number(values.max_base_score),
            guarantees: [],
            weights: [],
          },
        })
        form.reset()
        await again()
      },
    },
    field("Name", { name: "name", maxlength: "200", required: true }),
    field("Description", { name: "description", maxlength: "2000", required: true }),
    h(
      "div",
      { class: "field-row" },
      number("Ids per lootbox", "size", "3"),
      number("Minimum length", "min_length", "3"),
      number("Maximum length", "max_length", "5"),
      number("Minimum score", "min_base_score", "20"),
      number("Maximum score", "max_base_score", "80"),
    ),
  )

const generateForm = (types, again) =>
  actionForm(
    {
      label: "Generate lootboxes",
      plain: true,
      name: "Generate lootboxes",
      submit: async ({ loot_box_type_id, num_boxes }) => {
        const { loot_boxes } = await call("POST", "/lootbox_type/generate", {
          loot_box_type_id,
          num_boxes: Number(num_boxes),
        })
        notify(`${counted(loot_boxes.length, "lootbox", "lootboxes")} generated.`, "good")
        await again()
      },
    },
    choice(
      "Type",
      "loot_box_type_id",
      types.map(({ id, name }) => [id, name]),
    ),
    number("Quantity", "num_boxes", "3"),
  )

export const drawBoxes = async (place) => {
  const list = h("div", {})
  const types = h("div", {})
  fill(place, list, types)
  const startBoxes = () =>
    drawPaged(
      list,
      (cursor) => get(`/lootboxes?limit=20${cursor}`),
      (boxes, again) =>
        boxes.length === 0
          ? empty("🎁", "No lootboxes.")
          : table(
              ["Lootbox", "Ids", "Value", "Owner", "Status", ""],
              boxes.map((box) => [
                box.lootbox_type?.name ?? "Lootbox",
                emojiLine(box.yats),
                dollars(box.total_value),
                box.owner?.email ?? "",
                badge(box.status, kinds[box.status]),
                boxActions(box, again),
              ]),
            ),
    )
  const startTypes = async () => {
    const known = await get("/lootbox_type")
    fill(
      types,
      known.length > 0 &&
        h("section", { class: "card" }, h("h2", {}, "Generate lootboxes"), generateForm(known, startBoxes)),
      h("section", { class: "card" }, h("h2", {}, "New lootbox type"), typeForm(startTypes)),
    )
  }
  await Promise.all([startBoxes(), startTypes()])
}

import type { PublicLootBox, PublicLootBoxType } from "../../../client/api-types.ts"
import { actionButton, actionForm, confirmButton } from "../parts/actions.ts"
import { badge, choice, emojiLine, empty, field, fill, h } from "../parts/dom.ts"
import { counted, dollars } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { drawPaged, type Section, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"

type Again = () => Promise<unknown>

const kinds: Readonly<Record<PublicLootBox["status"], string>> = {
  Available: "good",
  Owned: "warn",
  Used: "",
  Draft: "",
}

const change = (label: string, action: () => Promise<unknown>, again: Again) =>
  actionButton(
    label,
    async () => {
      await action()
      await again()
    },
    { class: "plain small" },
  )

const offer = ({ id }: PublicLootBox) =>
  call("PATCH /lootboxes/{id}", { params: { id }, body: { status: "Available" } })

const nameOf = (box: PublicLootBox): string => box.lootbox_type?.name ?? "Lootbox"

const boxActions = (box: PublicLootBox, again: Again) =>
  h(
    "div",
    { class: "cell-actions" },
    box.status === "Draft" && change("Offer for sale", () => offer(box), again),
    (box.status === "Draft" || box.status === "Available") &&
      confirmButton(
        "Delete",
        {
          question: `Delete the lootbox ${nameOf(box)} with ${counted(box.yats.length, "id")}?`,
          consequence: `Its ids become available again: ${box.yats.join(" ")}. You cannot undo this.`,
        },
        async () => {
          await call("DELETE /lootboxes/{id}", { params: { id: box.id } })
          await again()
        },
        { sign: "trash-2", class: "plain small" },
      ),
  )

const number = (label: string, name: string, value: string) =>
  field(label, { name, type: "number", min: "1", max: "100", value, required: true })

const typeForm = (again: Again) =>
  actionForm(
    {
      label: "Create type",
      sign: "plus",
      name: "New lootbox type",
      submit: async (values, form) => {
        const number = (name: string) => Number(values.text(name))
        const config = {
          size: number("size"),
          min_length: number("min_length"),
          max_length: number("max_length"),
          min_base_score: number("min_base_score"),
          max_base_score: number("max_base_score"),
          guarantees: [],
          weights: [],
        }
        const body = { name: values.text("name"), description: values.text("description"), config }
        await call("POST /lootbox_type", { body })
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

const generateForm = (types: ReadonlyArray<PublicLootBoxType>, again: Again) =>
  actionForm(
    {
      label: "Generate lootboxes",
      plain: true,
      name: "Generate lootboxes",
      submit: async (values) => {
        const { loot_boxes } = await call("POST /lootbox_type/generate", {
          body: {
            loot_box_type_id: values.text("loot_box_type_id"),
            num_boxes: Number(values.text("num_boxes")),
          },
        })
        notify(`${counted(loot_boxes.length, "lootbox", "lootboxes")} generated.`, "good")
        await again()
      },
    },
    choice(
      "Type",
      "loot_box_type_id",
      types.map(({ id, name }) => [id, name] as const),
    ),
    number("Quantity", "num_boxes", "3"),
  )

export const drawBoxes: Section["draw"] = async (place) => {
  const list = h("div", {})
  const types = h("div", {})
  fill(place, list, types)
  const startBoxes = () =>
    drawPaged(
      list,
      (cursor) => call("GET /lootboxes", { query: { limit: 20, ...cursor } }),
      (boxes, again) =>
        boxes.length === 0
          ? empty("🎁", "No lootboxes.")
          : table(
              ["Lootbox", "Ids", "Value", "Owner", "Status", ""],
              boxes.map((box) => [
                nameOf(box),
                emojiLine(box.yats),
                dollars(box.total_value),
                box.owner?.email ?? "",
                badge(box.status, kinds[box.status]),
                boxActions(box, again),
              ]),
            ),
    )
  const startTypes = async (): Promise<void> => {
    const known = await call("GET /lootbox_type")
    fill(
      types,
      known.length > 0 &&
        h("section", { class: "card" }, h("h2", {}, "Generate lootboxes"), generateForm(known, startBoxes)),
      h("section", { class: "card" }, h("h2", {}, "New lootbox type"), typeForm(startTypes)),
    )
  }
  await Promise.all([startBoxes(), startTypes()])
}

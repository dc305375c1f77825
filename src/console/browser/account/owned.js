import { actionForm, finalButton } from "../parts/actions.js"
import { choice, emojiText, empty, field, fill, h, keyed } from "../parts/dom.js"
import { notify } from "../parts/notices.js"
import { call, getAll, pathOf } from "../platform/api.js"
import { follow } from "../platform/live.js"
import { ownedChanges } from "../platform/store.js"
import { loadVocabulary } from "../vocabulary.js"
import { categoryName, recordView, writtenData } from "./records.js"

const dataInput = { name: "data", maxlength: "4096", required: true }
const dataHint = "An address, a link or a text. After an address you may add | and a name for it."

const goneWords =
  "This record was changed or removed elsewhere meanwhile. Saving adds yours to what is there now."

/**
 * Puts another record in the place of one, in one step: nobody who looks finds neither. What is typed stays though the
 * record may go meanwhile.
 */
const changeForm = ({ close, id, name, record }) => {
  let isGone = false
  let isSaving = false
  const note = h("p", { class: "warn problem", role: "status" })
  const form = actionForm(
    {
      label: "Save",
      name: `Change ${name}`,
      beside: h("button", { type: "button", class: "plain", onclick: close }, "Cancel"),
      submit: async (values) => {
        const data = values.data.trim()
        // Others of its category, where there are any, were put there on purpose and stay.
        const insert = [{ tag: record.tag, data }]
        const replacing = { delete: [record.hash], insert, bypass_single_restrictions: true }
        isSaving = true
        try {
          if (isGone || data !== writtenData(record))
            await call("PATCH", pathOf(id), isGone ? { insert } : replacing)
        } catch (error) {
          isSaving = false
          if (error.fields?.delete === undefined) throw error
          return tellGone()
        }
        close()
      },
    },
    field(name, { ...dataInput, value: writtenData(record) }, dataHint),
    note,
  )
  const tellGone = () => {
    // Gone by its own form, perhaps.
    if (isSaving) return
    isGone = true
    fill(note, goneWords)
  }
  return { form, tellGone }
}

/** @param {Map<string, {record: any, tellGone: () => void}>} changing by hash, what somebody is about to change @param {() => void} redraw */
const recordRow = ({ categories, changing, id, record, redraw }) => {
  const name = categoryName(record.tag, categories)
  const row = h("li", { class: "spread" })
  const show = () => {
    fill(
      row,
      recordView(record, categories),
      h(
        "span",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "plain small", "aria-label": `Change ${name}`, onclick: change },
          "Change",
        ),
        finalButton(
          "Remove",
          {
            question: `Remove ${name}?`,
            consequence: `Who looks up ${id} no longer finds ${writtenData(record)}.`,
          },
          () => call("PATCH", pathOf(id), { delete: [record.hash] }),
          { class: "plain small", "aria-label": `Remove ${name}` },
        ),
      ),
    )
  }
  const change = () => {
    const close = () => {
      changing.delete(record.hash)
      show()
      row.querySelector("button")?.focus()
      redraw()
    }
    const { form, tellGone } = changeForm({ id, name, record, close })
    changing.set(record.hash, { record, tellGone })
    fill(row, form)
    row.querySelector("input")?.focus()
  }
  show()
  return row
}

/** The records of one id, which its owner may change. */
const drawEditor = async (place, life, id) => {
  const { categories, choices } = await loadVocabulary()
  const records = h("ul", { class: "records" })
  const changing = new Map()
  let present = []
  const redraw = () => {
    if (life.isOver) return
    const shown = [...present]
    for (const [hash, { record }] of changing) {
      if (present.some((other) => other.hash === hash)) continue
      const at = [...records.children].findIndex(({ dataset }) => dataset.key === hash)
      shown.splice(at, 0, record)
    }
    if (shown.length === 0) return fill(records, h("li", { class: "soft" }, "No records yet."))
    if (records.firstElementChild?.dataset.key === undefined) fill(records)
    keyed(records, shown, {
      key: ({ hash }) => hash,
      version: ({ hash }) => hash,
      render: (record) => recordRow({ categories, changing, id, record, redraw }),
    })
  }
  const showResult = ({ result }) => {
    present = result
    for (const [hash, { tellGone }] of changing)
      if (!result.some((record) => record.hash === hash)) tellGone()
    redraw()
  }
  life.keep(follow(id, { onResult: showResult }))
  fill(
    place,
    h("p", {}, h("a", { href: "#/account/ids" }, "← All ids")),
    h("p", { class: "center" }, emojiText(id, "huge")),
    h("section", { class: "card", "aria-label": "Records" }, records),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Add a record"),
      actionForm(
        {
          label: "Add",
          name: "New record",
          submit: async ({ data, tag }, form) => {
            await call("PATCH", pathOf(id), { insert: [{ tag, data: data.trim() }] })
            form.reset()
            notify("The record was added.", "good")
          },
        },
        choice(
          "Kind",
          "tag",
          choices.map((tag) => [tag, categoryName(tag, categories)]),
        ),
        field("Data", dataInput, dataHint),
      ),
    ),
  )
}

const drawList = async (place, life) => {
  const list = h("ul", { class: "tiles" })
  const load = async () => {
    const ids = await getAll("/emoji_id/extended")
    if (ids.length === 0) {
      fill(
        place,
        empty("🫙", "You own no id yet.", h("a", { class: "button", href: "#/market" }, "Find one")),
      )
      return
    }
    fill(
      list,
      ids.map((item) => {
        const id = item.display_format ?? item.emoji_id ?? item.canonical_format
        return h(
          "li",
          { class: "card tile-card" },
          h("a", { class: "tile-id", href: `#/account/ids/${encodeURIComponent(id)}` }, emojiText(id)),
          h("p", { class: "small soft" }, `score ${item.rhythm_score}`),
          h(
            "a",
            {
              class: "button plain",
              href: `#/account/ids/${encodeURIComponent(id)}`,
              "aria-label": `Records of ${id}`,
            },
            "Records",
          ),
        )
      }),
    )
    fill(place, list)
  }
  await load()
  let first = true
  life.keep(
    ownedChanges.watch(() => {
      if (!first) load().catch(() => {})
      first = false
    }),
  )
}

export const drawIds = (place, life, [id]) =>
  id === undefined ? drawList(place, life) : drawEditor(place, life, id)

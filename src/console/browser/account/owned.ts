import { ApiError } from "../../../client/api-error.ts"
import type { LiveLookupResult } from "../../../client/api-types.ts"
import { actionForm, confirmButton } from "../parts/actions.ts"
import { choice, emojiText, empty, field, fill, h, keyed } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import type { Lifetime } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { call, readIdsWithFacts } from "../platform/api.ts"
import { follow } from "../platform/live.ts"
import { ownedChanges } from "../platform/store.ts"
import { loadVocabulary } from "../vocabulary.ts"
import { type Categories, categoryName, recordView, writtenData } from "./records.ts"

type Record = LiveLookupResult["result"][number]

const dataInput = { name: "data", maxlength: "4096", required: true }
const dataHint = "An address, a link or a text. After an address you can add | and a description."

const goneWarning =
  "This record was changed or removed elsewhere. If you save, your version is added as a new record."

interface Change {
  readonly id: string
  readonly name: string
  readonly record: Record
  readonly close: () => void
}

/**
 * A form that replaces a record. One request deletes the old record and inserts the new one, so a lookup always finds
 * one of them. If the record is removed elsewhere in the meantime, the typed text stays in the form.
 */
const changeForm = ({ close, id, name, record }: Change) => {
  let isGone = false
  let isSaving = false
  const note = h("p", { class: "warn problem", role: "status" })
  const form = actionForm(
    {
      label: "Save",
      name: `Change ${name}`,
      beside: h("button", { type: "button", class: "plain", onclick: close }, "Cancel"),
      submit: async (values) => {
        const data = values.text("data").trim()
        const insert = [{ tag: record.tag, data }]
        // `bypass_single_restrictions` keeps the other records of the same category.
        const replacing = { delete: [record.hash], insert, bypass_single_restrictions: true }
        isSaving = true
        try {
          if (isGone || data !== writtenData(record))
            await call("PATCH /emoji_id/{emoji_id}", {
              params: { emoji_id: id },
              body: isGone ? { insert } : replacing,
            })
        } catch (error) {
          isSaving = false
          if (!(error instanceof ApiError) || error.fields["delete"] === undefined) throw error
          return showGone()
        }
        close()
      },
    },
    field(name, { ...dataInput, value: writtenData(record) }, dataHint),
    note,
  )
  const showGone = (): void => {
    // While this form saves, a missing record means that the form itself has replaced it.
    if (isSaving) return
    isGone = true
    fill(note, goneWarning)
  }
  return { form, showGone }
}

/** The records being edited, by hash. */
type Changing = Map<string, { readonly record: Record; readonly showGone: () => void }>

interface Row {
  readonly categories: Categories
  readonly changing: Changing
  readonly id: string
  readonly record: Record
  readonly redraw: () => void
}

const recordRow = ({ categories, changing, id, record, redraw }: Row) => {
  const name = categoryName(record.tag, categories)
  const row = h("li", { class: "spread" })
  const show = (): void => {
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
        confirmButton(
          "Remove",
          {
            question: `Remove ${name}?`,
            consequence: `Lookups of ${id} will no longer return ${writtenData(record)}.`,
          },
          () =>
            call("PATCH /emoji_id/{emoji_id}", {
              params: { emoji_id: id },
              body: { delete: [record.hash] },
            }),
          { class: "plain small", "aria-label": `Remove ${name}` },
        ),
      ),
    )
  }
  const change = (): void => {
    const close = () => {
      changing.delete(record.hash)
      show()
      row.querySelector("button")?.focus()
      redraw()
    }
    const { form, showGone } = changeForm({ id, name, record, close })
    changing.set(record.hash, { record, showGone })
    fill(row, form)
    row.querySelector("input")?.focus()
  }
  show()
  return row
}

const drawEditor = async (place: Element, lifetime: Lifetime, id: string): Promise<void> => {
  const { categories, choices } = await loadVocabulary()
  const records = h("ul", { class: "records" })
  const changing: Changing = new Map()
  let present: ReadonlyArray<Record> = []
  const redraw = (): void => {
    if (lifetime.hasEnded) return
    const shown = [...present]
    for (const [hash, { record }] of changing) {
      if (present.some((other) => other.hash === hash)) continue
      const at = [...records.children].findIndex((child) => child.getAttribute("data-key") === hash)
      shown.splice(at, 0, record)
    }
    if (shown.length === 0) {
      fill(records, h("li", { class: "soft" }, "No records yet."))
      return
    }
    if (!records.firstElementChild?.hasAttribute("data-key")) fill(records)
    keyed(records, shown, {
      key: ({ hash }) => hash,
      version: ({ hash }) => hash,
      render: (record) => recordRow({ categories, changing, id, record, redraw }),
    })
  }
  const showResult = ({ result }: LiveLookupResult): void => {
    present = result
    for (const [hash, { showGone }] of changing)
      if (!result.some((record) => record.hash === hash)) showGone()
    redraw()
  }
  lifetime.onEnd(follow(id, { onResult: showResult }))
  fill(
    place,
    h("p", {}, h("a", { href: "#/ids" }, "← All ids")),
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
          submit: async (values, form) => {
            const insert = [{ tag: values.text("tag"), data: values.text("data").trim() }]
            await call("PATCH /emoji_id/{emoji_id}", { params: { emoji_id: id }, body: { insert } })
            form.reset()
            notify("The record was added.", "good")
          },
        },
        choice(
          "Type",
          "tag",
          choices.map((tag) => [tag, categoryName(tag, categories)] as const),
        ),
        field("Data", dataInput, dataHint),
      ),
    ),
  )
}

const drawList = async (place: Element, lifetime: Lifetime): Promise<void> => {
  const list = h("ul", { class: "tiles" })
  const load = async () => {
    const ids = await readIdsWithFacts()
    if (ids.length === 0) {
      fill(
        place,
        empty(
          "🫙",
          "You do not own any ids yet.",
          h("a", { class: "button", href: "#/market" }, "Find an id"),
        ),
      )
      return
    }
    fill(
      list,
      ids.map((item) => {
        const id = item.display_format
        return h(
          "li",
          { class: "card tile-card" },
          h("a", { class: "tile-id", href: `#/ids/${encodeURIComponent(id)}` }, emojiText(id)),
          h("p", { class: "small soft" }, `score ${item.rhythm_score}`),
          h(
            "a",
            {
              class: "button plain",
              href: `#/ids/${encodeURIComponent(id)}`,
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
  lifetime.onEnd(
    ownedChanges.watch(() => {
      if (!first) load().catch(() => {})
      first = false
    }),
  )
}

export const drawIds: Section["draw"] = (place, lifetime, [id]) =>
  id === undefined ? drawList(place, lifetime) : drawEditor(place, lifetime, id)

import type { LiveLookupResult } from "../../../client/api-types.ts"
import { type Categories, recordView, writtenData } from "../account/records.ts"
import { actionButton, confirmButton } from "../parts/actions.ts"
import { emojiText, empty, fill, h, keyed } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import type { Lifetime } from "../parts/signal.ts"
import { follow } from "../platform/live.ts"
import { loadVocabulary } from "../vocabulary.ts"
import { hasDefault, isChosen, makeDefault, rivalsOf } from "./defaults.ts"
import { kindPicker } from "./kind-picker.ts"
import { isOfOperator, type Kind, kindOf } from "./kinds.ts"
import { recordForm, type ShownRecord, sendEdit } from "./record-form.ts"

/** The records being edited, by hash. */
type Changing = Map<
  string,
  { readonly record: ShownRecord; readonly showGone: () => void; readonly version: string }
>

interface Editor {
  readonly categories: Categories
  readonly changing: Changing
  readonly id: string
  readonly present: () => ReadonlyArray<ShownRecord>
  readonly redraw: () => void
}

const removeButton = ({ id }: Editor, record: ShownRecord, name: string) =>
  confirmButton(
    "Remove",
    {
      question: `Remove ${name}?`,
      consequence: `Lookups of ${id} will no longer return ${writtenData(record)}.`,
    },
    async () => {
      await sendEdit(id, { delete: [record.hash], insert: [] }, false, "Remove")
      notify(`${name} was removed.`, "good")
    },
    { class: "plain small", sign: "trash-2", "aria-label": `Remove ${name}` },
  )

const defaultButton = ({ id, present }: Editor, record: ShownRecord, name: string) =>
  actionButton(
    "Make default",
    async () => {
      await sendEdit(id, makeDefault(record, present()), true, "Make default")
      notify("The default was changed.", "good")
    },
    { class: "plain small", "aria-label": `Make default: ${name} ${writtenData(record)}` },
  )

/** The version of a row. The row also shows whether the record is the default. */
const versionOf = (record: ShownRecord, present: ReadonlyArray<ShownRecord>): string =>
  hasDefault(record.tag) && rivalsOf(record, present).length > 0
    ? `${record.hash} ${isChosen(record, present)}`
    : record.hash

const recordRow = (editor: Editor, record: ShownRecord) => {
  const { categories, changing, id, present, redraw } = editor
  const kind = kindOf(record.tag, categories)
  const row = h("li", { class: "spread" })
  const show = (): void => {
    const hasRivals = hasDefault(record.tag) && rivalsOf(record, present()).length > 0
    const isDefault = hasRivals && isChosen(record, present())
    fill(
      row,
      recordView(record, categories, isDefault),
      isOfOperator(record.tag)
        ? h("span", { class: "soft small" }, "Set by the operator")
        : h(
            "span",
            { class: "row" },
            hasRivals && !isDefault && defaultButton(editor, record, kind.name),
            actionButton("Change", change, {
              class: "plain small",
              sign: "pencil",
              "aria-label": `Change ${kind.name}`,
            }),
            removeButton(editor, record, kind.name),
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
    const cancel = h("button", { type: "button", class: "plain", onclick: close }, "Cancel")
    const { form, showGone } = recordForm({ id, kind, record, present, beside: cancel, saved: close })
    changing.set(record.hash, { record, showGone, version: row.dataset["version"] ?? "" })
    fill(row, form)
    form.querySelector<HTMLElement>("input, textarea")?.focus()
  }
  show()
  return row
}

const noRecords = () =>
  h("li", {}, empty("🗂️", "This id has no records yet. Add an address, a link or a text below."))

/** Draws the list of records. Returns a function that shows the records of a lookup. */
const recordList = (list: HTMLElement, lifetime: Lifetime, id: string, categories: Categories) => {
  const changing: Changing = new Map()
  let present: ReadonlyArray<ShownRecord> = []
  const redraw = (): void => {
    if (lifetime.hasEnded) return
    const shown = [...present]
    for (const [hash, { record }] of changing) {
      if (present.some((other) => other.hash === hash)) continue
      const at = [...list.children].findIndex((child) => child.getAttribute("data-key") === hash)
      shown.splice(at, 0, record)
    }
    if (shown.length === 0) {
      fill(list, noRecords())
      return
    }
    if (!list.firstElementChild?.hasAttribute("data-key")) fill(list)
    keyed(list, shown, {
      key: ({ hash }) => hash,
      // A row with an open form is not drawn again, because the typed text would be lost.
      version: (record) => changing.get(record.hash)?.version ?? versionOf(record, present),
      render: (record) => recordRow(editor, record),
    })
  }
  const editor: Editor = { categories, changing, id, present: () => present, redraw }
  const showResult = ({ result }: LiveLookupResult): void => {
    present = result
    for (const [hash, { showGone }] of changing)
      if (!result.some((record) => record.hash === hash)) showGone()
    redraw()
  }
  return { present: () => present, showResult }
}

/** Lets the user choose a kind, and then shows its form. */
const drawNew = (place: Element, id: string, present: () => ReadonlyArray<ShownRecord>): void => {
  const choose = (): void => {
    fill(place, h("h2", {}, "Add a record"), kindPicker(fillIn))
  }
  const chooseAgain = (): void => {
    choose()
    place.querySelector("input")?.focus()
  }
  const fillIn = (kind: Kind): void => {
    const back = h("button", { type: "button", class: "plain", onclick: chooseAgain }, "Choose another kind")
    const saved = (): void => {
      notify("The record was added.", "good")
      chooseAgain()
    }
    const { form } = recordForm({ id, kind, present, beside: back, saved })
    fill(
      place,
      h("h2", {}, `New record: ${kind.name}`),
      kind.hint !== "" && h("p", { class: "soft" }, kind.hint),
      form,
    )
    form.querySelector<HTMLElement>("input, textarea")?.focus()
  }
  choose()
}

/** Draws the records of one id, with the forms that change them. */
export const drawRecords = async (place: Element, lifetime: Lifetime, id: string): Promise<void> => {
  const { categories } = await loadVocabulary()
  const list = h("ul", { class: "records" })
  const added = h("section", { class: "card" })
  const { present, showResult } = recordList(list, lifetime, id, categories)
  drawNew(added, id, present)
  lifetime.onEnd(follow(id, { onResult: showResult }))
  fill(
    place,
    h("p", {}, h("a", { href: "#/ids" }, "← All ids")),
    h("p", { class: "center" }, emojiText(id, "huge")),
    h("section", { class: "card", "aria-label": "Records" }, list),
    added,
  )
}

import { ApiError } from "../../../client/api-error.ts"
import { NetworkError } from "../../../client/network-error.ts"
import { partsOf, writtenData } from "../account/records.ts"
import { actionForm } from "../parts/actions.ts"
import { type Child, fill, h } from "../parts/dom.ts"
import { fieldError } from "../parts/field-error.ts"
import { call } from "../platform/api.ts"
import { PageError } from "../platform/http.ts"
import { findDoubt, findProblem } from "./check.ts"
import { type Content, readContent, writeContent } from "./content.ts"
import { type Edit, hasDefault, isCoin, isSingle, withoutOtherDefaults } from "./defaults.ts"
import type { Kind } from "./kinds.ts"
import { contentOf, defaultTick, recordFields, storedKind } from "./record-fields.ts"

export interface ShownRecord {
  readonly tag: string
  readonly data: string
  readonly hash: string
}

export interface RecordForm {
  readonly id: string
  readonly kind: Kind
  /** The record that is changed. Undefined for a new one. */
  readonly record?: ShownRecord
  /** The records that the id has now. */
  readonly present: () => ReadonlyArray<ShownRecord>
  readonly beside: Child
  readonly saved: () => void
}

/**
 * A lost answer does not say whether the record was saved. The list above the form shows the records as they are, and
 * the repeated request has the same Idempotency-Key.
 */
const lostAnswer = (label: string) =>
  new PageError(
    `The service did not answer, so this page cannot say whether your change was saved. When the connection is back, the list shows it. If it does not, press “${label}” again: nothing is saved twice.`,
  )

export const sendEdit = async (
  id: string,
  edit: Edit,
  keepsOthers: boolean,
  label: string,
): Promise<void> => {
  try {
    await call("PATCH /emoji_id/{emoji_id}", {
      params: { emoji_id: id },
      body: {
        ...(edit.delete.length > 0 ? { delete: edit.delete } : {}),
        ...(edit.insert.length > 0 ? { insert: edit.insert } : {}),
        // `bypass_single_restrictions` keeps the other records of the same category.
        ...(keepsOthers ? { bypass_single_restrictions: true } : {}),
      },
    })
  } catch (error) {
    if (error instanceof NetworkError) throw lostAnswer(label)
    throw error
  }
}

/** Asks whether a new address replaces the addresses that the id has of this coin. Nothing is chosen beforehand. */
const keepChoice = (kind: Kind, rivals: ReadonlyArray<ShownRecord>) =>
  h(
    "fieldset",
    { class: "choices" },
    h("legend", {}, `${kind.name}: the id has ${rivals.length === 1 ? "an address" : "addresses"} already`),
    [
      ["yes", rivals.length === 1 ? "Keep both" : "Keep all"],
      ["no", `Replace ${rivals.map((rival) => partsOf(rival.tag, writtenData(rival)).value).join(" and ")}`],
    ].map(([value, text]) =>
      h(
        "label",
        { class: "tick" },
        h("input", { type: "radio", name: "keep", value, required: true }),
        " ",
        text,
      ),
    ),
  )

const checkContent = (id: string, kind: Kind, content: Content): void => {
  const problem = findProblem(id, kind, content)
  if (problem !== undefined) throw fieldError(problem.field, problem.text)
}

const goneWarning =
  "This record was changed or removed elsewhere. If you save, your version is added as a new record."

/**
 * A form that adds a record, or replaces one. One request deletes the old record and inserts the new one, so a lookup
 * always finds one of them. If the record is removed elsewhere in the meantime, the typed text stays in the form.
 */
export const recordForm = ({ beside, id, kind, present, record, saved }: RecordForm) => {
  const before = record === undefined ? { value: "" } : readContent(kind.form, writtenData(record))
  const others = present().filter(({ hash, tag }) => tag === kind.tag && hash !== record?.hash)
  const label = record === undefined ? "Add" : "Save"
  let isGone = false
  let isSaving = false
  let doubted: string | undefined
  const note = h("p", { class: "warn problem", role: "status" })
  const isUnchanged = (data: string) => record !== undefined && !isGone && data === writtenData(record)
  const save = async (content: Content, stored: Kind, keeps: boolean): Promise<void> => {
    const inserted = { tag: stored.tag, data: writeContent(stored.form, content) }
    const edit: Edit = { delete: record === undefined || isGone ? [] : [record.hash], insert: [inserted] }
    const complete = content.isDefault ? withoutOtherDefaults(edit, present()) : edit
    const isAlready = present().some(
      ({ data, hash, tag }) =>
        hash !== record?.hash && tag === inserted.tag && writtenData({ data, tag }) === inserted.data,
    )
    if (isAlready) throw fieldError("value", "This id already has this record.")
    await sendEdit(id, complete, keeps, label)
  }
  const form = actionForm(
    {
      label,
      name: record === undefined ? "New record" : `Change ${kind.name}`,
      beside,
      submit: async (values) => {
        const typed = storedKind(kind, contentOf(values, before))
        checkContent(id, typed.kind, typed.content)
        const data = writeContent(typed.kind.form, typed.content)
        if (isUnchanged(data)) return saved()
        const doubt = findDoubt(typed.kind, typed.content)
        if (doubt !== undefined && doubted !== data) {
          doubted = data
          throw fieldError(
            "value",
            `${doubt} Compare it with your wallet. To use it anyway, press “${label}” again.`,
          )
        }
        isSaving = true
        try {
          await save(typed.content, typed.kind, record !== undefined || values.text("keep") === "yes")
        } catch (error) {
          isSaving = false
          if (!(error instanceof ApiError) || error.fields["delete"] === undefined) throw error
          return showGone()
        }
        saved()
      },
    },
    recordFields(kind, before),
    hasDefault(kind.tag) && (others.length > 0 || before.isDefault) && defaultTick(before.isDefault === true),
    record === undefined && others.length > 0 && isCoin(kind.tag) && keepChoice(kind, others),
    record === undefined &&
      !isCoin(kind.tag) &&
      others.length > 0 &&
      isSingle({ tag: kind.tag, data: "" }) &&
      h("p", { class: "soft small" }, `This replaces the current ${kind.name.toLowerCase()}.`),
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

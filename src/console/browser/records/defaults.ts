import { findRecordClass, parseTag } from "../../../../schema/directory/records/record-tag.ts"
import { findSingleValueKey } from "../../../../schema/directory/records/single-value.ts"
import { writtenData } from "../account/records.ts"
import { readContent, writeContent } from "./content.ts"
import { kindOf } from "./kinds.ts"

interface Stored {
  readonly tag: string
  readonly data: string
  readonly hash: string
}

/** What one request deletes and inserts. */
export interface Edit {
  readonly delete: ReadonlyArray<string>
  readonly insert: ReadonlyArray<{ readonly tag: string; readonly data: string }>
}

const contentOfRecord = (record: Stored) => {
  const { form } = kindOf(record.tag, {})
  return { form, content: readContent(form, writtenData(record)) }
}

/** Whether one of several records of this tag can be the default. */
export const hasDefault = (tag: string): boolean => {
  const { form } = kindOf(tag, {})
  return form === "address" || form === "otherCoin"
}

/** The key that records share if payers use only one of them. */
const keyOf = (record: Omit<Stored, "hash">): string => findSingleValueKey(record) ?? record.tag

/** The other records of which payers use only one together with this record. */
export const rivalsOf = <R extends Stored>(
  record: { readonly tag: string; readonly data: string; readonly hash?: string },
  present: ReadonlyArray<R>,
): ReadonlyArray<R> => present.filter((other) => other.hash !== record.hash && keyOf(other) === keyOf(record))

const isFlagged = (record: Stored): boolean => contentOfRecord(record).content.isDefault === true

/** Whether payers use this record: the newest default record, or the newest record if none is a default. */
export const isChosen = (record: Stored, present: ReadonlyArray<Stored>): boolean => {
  const rivals = present.filter((other) => keyOf(other) === keyOf(record))
  const chosen = rivals.findLast(isFlagged) ?? rivals.at(-1)
  return chosen?.hash === record.hash
}

/** Returns the record with or without the mark of a default record. */
const marked = (record: Stored, isDefault: boolean): Edit["insert"][number] => {
  const { content, form } = contentOfRecord(record)
  return { tag: record.tag, data: writeContent(form, { ...content, isDefault }) }
}

/** Adds to an edit that the other records of a new default are no defaults any more. */
export const withoutOtherDefaults = (edit: Edit, present: ReadonlyArray<Stored>): Edit => {
  const [added] = edit.insert
  if (added === undefined) return edit
  const others = rivalsOf(added, present).filter((one) => isFlagged(one) && !edit.delete.includes(one.hash))
  return {
    delete: [...edit.delete, ...others.map(({ hash }) => hash)],
    insert: [...edit.insert, ...others.map((one) => marked(one, false))],
  }
}

/** The edit that makes a record the default of its kind. */
export const makeDefault = (record: Stored, present: ReadonlyArray<Stored>): Edit =>
  withoutOtherDefaults({ delete: [record.hash], insert: [marked(record, true)] }, present)

/** Whether a new record of this kind replaces the one before, unless the user keeps both. */
export const isSingle = (record: Omit<Stored, "hash">): boolean => findSingleValueKey(record) !== undefined

export const isCoin = (tag: string): boolean => findRecordClass(parseTag(tag) ?? 0) === "crypto"

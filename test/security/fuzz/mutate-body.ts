import type { Luck } from "../../fixtures/walk.ts"
import type { Draft } from "./draft.ts"
import { hostileBytes, hostileJson, hostileText, hostileValue } from "./hostile.ts"

type Mutation = (draft: Draft, luck: Luck) => Draft

/** Members that a client must not be able to set, and names that are special in JavaScript. */
const extraMembers = [
  "id",
  "role",
  "free_limit",
  "user_id",
  "owner_id",
  "organization_id",
  "status",
  "price_in_cents",
  "email_verified_at",
  "scopes",
  "__proto__",
  "constructor",
  "toString",
  "",
  "more",
]

type Path = ReadonlyArray<string>

/** The paths of all members and items of a JSON value. The empty path is the value itself. */
const pathsIn = (value: unknown, path: Path = []): ReadonlyArray<Path> =>
  typeof value === "object" && value !== null
    ? [path, ...Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))]
    : [path]

const removed = Symbol("removed")

/** Returns a copy of the value in which the part at the path is replaced or removed. */
const changed = (value: unknown, [first, ...rest]: Path, to: unknown): unknown => {
  if (first === undefined) return to === removed ? null : to
  const isRemoved = rest.length === 0 && to === removed
  if (Array.isArray(value))
    return value.flatMap((item, at) =>
      String(at) !== first ? [item] : isRemoved ? [] : [changed(item, rest, to)],
    )
  const members = Object.entries(value as object).flatMap(([name, member]) =>
    name !== first ? [[name, member]] : isRemoved ? [] : [[name, changed(member, rest, to)]],
  )
  return Object.fromEntries(members)
}

/** Returns a copy of the value in which one part is hostile or missing. */
export const mutatedValue = (value: unknown, luck: Luck): unknown =>
  changed(value, luck.pick(pathsIn(value))!, luck.chance(0.2) ? removed : hostileValue(luck))

const textOf = ({ json }: Draft): string => JSON.stringify(json ?? {}) ?? "null"

/** Replaces one part of the body, or one field of the form, by a hostile value. */
const replacePart: Mutation = (draft, luck) => {
  if (draft.form !== undefined) {
    const name = luck.pick(Object.keys(draft.form)) ?? "action"
    return { ...draft, form: { ...draft.form, [name]: hostileText(luck) } }
  }
  const path = luck.pick(pathsIn(draft.json ?? {}))!
  return { ...draft, json: changed(draft.json ?? {}, path, hostileValue(luck)) }
}

const removePart: Mutation = (draft, luck) => {
  if (draft.form !== undefined) {
    const name = luck.pick(Object.keys(draft.form))
    return { ...draft, form: Object.fromEntries(Object.entries(draft.form).filter(([key]) => key !== name)) }
  }
  const path = luck.pick(pathsIn(draft.json ?? {}))!
  return { ...draft, json: changed(draft.json ?? {}, path, removed) }
}

const wrapPart: Mutation = (draft, luck) => {
  const path = luck.pick(pathsIn(draft.json ?? {}))!
  const part = path.reduce((value, name) => Object(value)[name], draft.json as unknown) ?? null
  // Copies of a large part, in several mutations, would need more memory than there is.
  const many = (JSON.stringify(part) ?? "").length > 200 ? 2 : luck.pick([1, 2, 500])!
  return {
    ...draft,
    json: changed(
      draft.json ?? {},
      path,
      Array.from({ length: many }, () => part),
    ),
  }
}

/** `__proto__` must be a member of its own, so the object is built from entries. */
const addMember: Mutation = (draft, luck) => {
  const name = luck.pick(extraMembers)!
  if (draft.form !== undefined) return { ...draft, form: { ...draft.form, [name]: hostileText(luck) } }
  const value = luck.chance(0.4) ? luck.pick<unknown>(["Admin", "Super", 1000, true]) : hostileValue(luck)
  const members = typeof draft.json === "object" && draft.json !== null ? Object.entries(draft.json) : []
  return { ...draft, json: Object.fromEntries([...members, [name, value]]) }
}

const repeatMember: Mutation = (draft, luck) => {
  const name = luck.pick(Object.keys(Object(draft.json))) ?? "a"
  const more = `${JSON.stringify(name)}:${JSON.stringify(hostileValue(luck)) ?? "null"}`
  const text = textOf(draft)
  const body = text.startsWith("{") ? `{${more},${text.slice(1)}` : `[${more}`
  return { ...draft, rawBody: Buffer.from(body.replace(",}", "}")) }
}

const truncate: Mutation = (draft, luck) => {
  const bytes = Buffer.from(textOf(draft))
  return { ...draft, rawBody: bytes.subarray(0, luck.below(bytes.length)) }
}

const replaceJson: Mutation = (draft, luck) => ({ ...draft, rawBody: Buffer.from(luck.pick(hostileJson)!) })

const replaceBytes: Mutation = (draft, luck) => ({ ...draft, rawBody: luck.pick(hostileBytes)! })

const breakEncoding: Mutation = (draft, luck) => {
  const text = textOf(draft)
  return {
    ...draft,
    rawBody: luck.pick([
      Buffer.from(text, "utf16le"),
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
      Buffer.concat([Buffer.from(text), Buffer.from([0xff])]),
      Buffer.from(`${text}\0`),
      Buffer.from(`${" ".repeat(60_000)}${text}`),
    ])!,
  }
}

const tooLarge: Mutation = (draft, luck) => {
  const { bodyLimitBytes = 64 * 1024 } = draft.row
  const bytes = Math.max(1, bodyLimitBytes + luck.pick([-1, 0, 1, 5000])!)
  return { ...draft, rawBody: Buffer.from(`"${"x".repeat(bytes)}"`).subarray(0, bytes) }
}

const changeType: Mutation = (draft, luck) => ({
  ...draft,
  headers: {
    ...draft.headers,
    "content-type": luck.pick([
      "",
      "text/plain",
      "application/json; charset=utf-16",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/xml",
      "x".repeat(500),
    ])!,
  },
})

const compress: Mutation = (draft) => ({
  ...draft,
  headers: { ...draft.headers, "content-encoding": "gzip" },
  rawBody: hostileBytes[4]!,
})

/** The mutations of a body. Those that keep most of it valid are listed more often. */
export const bodyMutations: ReadonlyArray<Mutation> = [
  replacePart,
  replacePart,
  replacePart,
  replacePart,
  removePart,
  removePart,
  wrapPart,
  addMember,
  addMember,
  repeatMember,
  truncate,
  replaceJson,
  replaceBytes,
  breakEncoding,
  tooLarge,
  changeType,
  compress,
]

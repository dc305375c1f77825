import { internal, type Vocabulary } from "./platform/request.ts"

let loading: Promise<Vocabulary> | undefined

export const loadVocabulary = (): Promise<Vocabulary> => {
  loading ??= internal.vocabulary().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/**
 * Converts typed names such as `rocket.ocean` or `rocket ocean` to emoji. Text with an unknown name is returned
 * unchanged, and the service reports the error.
 */
export const readId = async (typed: string): Promise<string> => {
  const text = typed.trim()
  if (!/^[\w\s.,+-]+$/i.test(text)) return text.replaceAll(/\s+/g, "")
  const { emoji } = await loadVocabulary()
  const byName = new Map(emoji.flatMap(({ members }) => members.map(([sign, name]) => [name, sign] as const)))
  const signs = text
    .toLowerCase()
    .split(/[\s.,]+/)
    .map((name) => byName.get(name))
  return signs.includes(undefined) ? text : signs.join("")
}

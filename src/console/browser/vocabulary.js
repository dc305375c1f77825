import { request } from "./platform/http.js"

let loading

/** @returns {Promise<{emoji: ReadonlyArray<{group: string, members: ReadonlyArray<readonly [string, string]>}>, categories: Record<string, string>, choices: ReadonlyArray<string>}>} */
export const loadVocabulary = () => {
  loading ??= request("GET", "/console/vocabulary").catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

/**
 * Converts typed names such as `rocket.ocean` or `rocket ocean` to emoji. Text with an unknown name is returned
 * unchanged, and the service reports the error.
 * @param {string} typed
 */
export const readId = async (typed) => {
  const text = typed.trim()
  if (!/^[\w\s.,+-]+$/i.test(text)) return text.replaceAll(/\s+/g, "")
  const { emoji } = await loadVocabulary()
  const byName = new Map(emoji.flatMap(({ members }) => members.map(([sign, name]) => [name, sign])))
  const names = text.toLowerCase().split(/[\s.,]+/)
  return names.every((name) => byName.has(name)) ? names.map((name) => byName.get(name)).join("") : text
}

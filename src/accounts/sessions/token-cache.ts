/**
 * A map of bounded size that drops entries that were not used recently. It has two generations instead of a linked
 * list. A hit in the young generation writes and allocates nothing. A hit in the old one moves the entry to the young
 * one. When the young one is full, it becomes the old one, and the previous old one is dropped as a whole.
 */
export const makeTokenCache = <A>(capacity: number) => {
  const generationSize = Math.max(1, Math.floor(capacity / 2))
  let young = new Map<string, A>()
  let old = new Map<string, A>()

  const set = (token: string, entry: A) => {
    if (young.size >= generationSize) {
      old = young
      young = new Map()
    }
    young.set(token, entry)
  }

  return {
    set,
    get: (token: string): A | undefined => {
      const recent = young.get(token)
      if (recent !== undefined) return recent
      const entry = old.get(token)
      if (entry === undefined) return undefined
      old.delete(token)
      set(token, entry)
      return entry
    },
    delete: (token: string) => {
      young.delete(token)
      old.delete(token)
    },
    size: () => young.size + old.size,
  }
}

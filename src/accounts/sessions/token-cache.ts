/**
 * Creates a map of limited size that drops entries that were not used recently. It has a young and an old generation
 * instead of a linked list. Reading an entry of the young generation writes and allocates nothing. Reading an entry
 * of the old generation moves it to the young generation. When the young generation is full, it becomes the old one,
 * and all entries of the previous old generation are dropped.
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

/**
 * A map of bounded size that forgets what was not asked for lately. Two generations instead of a linked list: a
 * hit in the young one writes nothing and allocates nothing, a hit in the old one moves the entry over, and when
 * the young one is full it becomes the old one and the rest is dropped at once.
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

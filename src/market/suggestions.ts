import { emojis } from "../../schema/directory/emoji.ts"
import { EmojiId, maxEmojiPerId } from "../../schema/directory/emoji-id.ts"

const maxSuggestions = 60
const maxReorderings = 24
const neighboursPerEmoji = 12

type Indexes = ReadonlyArray<number>

const byPopularity: Indexes = emojis
  .toSorted((a, b) => a.popularity - b.popularity || a.index - b.index)
  .map(({ index }) => index)
const rankOf = new Map(byPopularity.map((index, rank) => [index, rank]))

/** The emoji nearest in popularity, nearest first. */
const neighbours = (index: number): Indexes => {
  const rank = rankOf.get(index)!
  const steps = Array.from({ length: neighboursPerEmoji }, (_, step) => step + 1)
  return steps
    .flatMap((step) => [byPopularity[rank + step], byPopularity[rank - step]])
    .filter((neighbour) => neighbour !== undefined)
    .slice(0, neighboursPerEmoji)
}

/** Its reverse first, then its rotations, then every two places exchanged. */
const reordered = (own: Indexes): ReadonlyArray<Indexes> => {
  const places = own.map((_, place) => place)
  const rotations = places.slice(1).map((place) => [...own.slice(place), ...own.slice(0, place)])
  const exchanges = places.flatMap((left) =>
    places.slice(left + 1).map((right) => own.with(left, own[right]!).with(right, own[left]!)),
  )
  return [own.toReversed(), ...rotations, ...exchanges].slice(0, maxReorderings)
}

/** Bookended, its last or its first emoji doubled, said twice, mirrored, one like its last added. */
const lengthened = (own: Indexes): ReadonlyArray<Indexes> => {
  const first = own[0]!
  const last = own.at(-1)!
  return [
    [...own, first],
    [...own, last],
    [first, ...own],
    [...own, ...own],
    [...own, ...own.toReversed()],
    [...own, last, last],
    [...own, last, last, last],
    ...neighbours(last).map((neighbour) => [...own, neighbour]),
  ].filter((longer) => longer.length <= maxEmojiPerId)
}

const swapped = (own: Indexes): ReadonlyArray<Indexes> => {
  const choices = own.map(neighbours)
  return Array.from({ length: neighboursPerEmoji }).flatMap((_, nearness) =>
    own.flatMap((_, place) => {
      const neighbour = choices[place]?.[nearness]
      return neighbour === undefined ? [] : [own.with(place, neighbour)]
    }),
  )
}

/** Ids to offer beside this one, best first and of each kind in turn; the same every time, each once, never the id itself. */
export const suggestionsFor = (id: EmojiId): ReadonlyArray<EmojiId> => {
  const kinds = [reordered(id.emojis), lengthened(id.emojis), swapped(id.emojis)]
  const rounds = Math.max(...kinds.map((kind) => kind.length))
  const found = new Map<string, EmojiId>()
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      const indexes = kind[round]
      if (indexes === undefined) continue
      const suggestion = new EmojiId(indexes)
      if (suggestion.canonical !== id.canonical) found.set(suggestion.canonical, suggestion)
      if (found.size === maxSuggestions) return [...found.values()]
    }
  }
  return [...found.values()]
}

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

/** Returns the emoji that are nearest to this emoji in the order of popularity, the nearest first. */
const neighbours = (index: number): Indexes => {
  const rank = rankOf.get(index)!
  const steps = Array.from({ length: neighboursPerEmoji }, (_, step) => step + 1)
  return steps
    .flatMap((step) => [byPopularity[rank + step], byPopularity[rank - step]])
    .filter((neighbour) => neighbour !== undefined)
    .slice(0, neighboursPerEmoji)
}

/** Returns the id in reverse order, then its rotations, then all variants with two positions exchanged. */
const reordered = (own: Indexes): ReadonlyArray<Indexes> => {
  const places = own.map((_, place) => place)
  const rotations = places.slice(1).map((place) => [...own.slice(place), ...own.slice(0, place)])
  const exchanges = places.flatMap((left) =>
    places.slice(left + 1).map((right) => own.with(left, own[right]!).with(right, own[left]!)),
  )
  return [own.toReversed(), ...rotations, ...exchanges].slice(0, maxReorderings)
}

/**
 * Returns longer variants of the id: with its first emoji added at the end, with its last or first emoji doubled, with
 * the whole id repeated or mirrored, with its last emoji three or four times, and with an emoji added at the end whose
 * popularity is similar to that of the last one. Variants that are too long for an id are left out.
 */
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

/**
 * Returns ids that are similar to this one, best first. The result alternates between reordered, lengthened and changed
 * ids. It does not contain the id itself or duplicates, and it is always the same for one id.
 */
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

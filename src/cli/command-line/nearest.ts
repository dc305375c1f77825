/** The Damerau–Levenshtein distance (optimal string alignment) of two words. */
const distance = (one: string, other: string): number => {
  const rows = [Array.from({ length: other.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(
        Math.min(
          rows[i - 1]![j]! + 1,
          row[j - 1]! + 1,
          rows[i - 1]![j - 1]! + same,
          isSwap ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    rows.push(row)
  }
  return rows[one.length]![other.length]!
}

/** Returns the name that was probably meant, or undefined if none is similar. */
export const nearest = (given: string, names: ReadonlyArray<string>): string | undefined => {
  const [best] = names
    .map((name) => ({ name, away: distance(given, name) }))
    .sort((one, other) => one.away - other.away)
  return best !== undefined && best.away <= Math.max(2, given.length / 3) ? best.name : undefined
}

/**
 * This file calculates the popularity of each emoji, from 0 to 1, from measured rhythm scores. Only the generator of
 * the emoji table uses it.
 */

export interface RhythmSamples {
  readonly repeat_5: Readonly<Record<string, number>>
  readonly repeat_4: Readonly<Record<string, number>>
}

export interface PopularitySubject {
  readonly emoji: string
  readonly group: number
  readonly subgroup: number
}

const lowestFivefold = 59
const highestFivefold = 84

const median = (values: ReadonlyArray<number>): number | undefined =>
  values.length === 0 ? undefined : values.toSorted((a, b) => a - b)[values.length >> 1]

/**
 * Returns the popularity of each measured emoji. It is calculated from the fivefold score, which is the score of the id
 * that repeats the emoji five times, because these scores are spread almost evenly over 26 values. Emoji with the same
 * fivefold score can have different fourfold scores (the emoji repeated four times). Then the emoji with the lowest
 * fourfold score are moved down by a quarter of a step, and those with a higher one are moved up by a quarter of a
 * step.
 */
const measured = ({ repeat_4, repeat_5 }: RhythmSamples): ReadonlyMap<string, number> => {
  const fourfolds = new Map<number, Set<number>>()
  for (const [emoji, fourfold] of Object.entries(repeat_4)) {
    const fivefold = repeat_5[emoji]
    if (fivefold === undefined) continue
    fourfolds.set(fivefold, (fourfolds.get(fivefold) ?? new Set()).add(fourfold))
  }
  const within = (emoji: string, fivefold: number): number => {
    const seen = [...(fourfolds.get(fivefold) ?? [])]
    const fourfold = repeat_4[emoji]
    if (fourfold === undefined || seen.length < 2) return 0
    return fourfold === Math.min(...seen) ? -0.25 : 0.25
  }
  const span = highestFivefold - lowestFivefold
  return new Map(
    Object.entries(repeat_5).map(([emoji, fivefold]) => {
      const share = (fivefold + within(emoji, fivefold) - lowestFivefold) / span
      return [emoji, Math.min(1, Math.max(0, share))]
    }),
  )
}

/**
 * Returns the popularity of each emoji. An emoji that was not measured gets the median of its subgroup, otherwise of
 * its group, otherwise of the whole set.
 */
export const fitPopularity = (
  subjects: ReadonlyArray<PopularitySubject>,
  samples: RhythmSamples,
): ReadonlyMap<string, number> => {
  const known = measured(samples)
  const middleOf = (alike: (other: PopularitySubject) => boolean): number | undefined =>
    median(subjects.filter(alike).flatMap((other) => known.get(other.emoji) ?? []))
  return new Map(
    subjects.map((subject) => {
      const popularity =
        known.get(subject.emoji) ??
        middleOf((other) => other.subgroup === subject.subgroup) ??
        middleOf((other) => other.group === subject.group) ??
        middleOf(() => true) ??
        0.5
      return [subject.emoji, Math.round(popularity * 1000) / 1000]
    }),
  )
}

import { BoundedMap } from "../../../actors/bounded-map.ts"
import type { Precomputed } from "../../http/endpoint.ts"
import type { LookupAnswer } from "./answer.ts"
import type { CachedAnswer } from "./cached-answer.ts"
import { SlabStorage } from "./slab-storage.ts"

const maxSpellingUnits = 512
const maxSelectionsPerId = 8
/**
 * The cache may store one spelling per 4096 bytes of its memory limit, and the selections of one id per 65,536 bytes.
 * These are few, because only a small part of the requests uses other spellings or selections.
 */
const bytesPerSpelling = 4096
const bytesPerSelectedId = 65_536
/**
 * A selection with more bytes is not cached but computed for each request, because the records of a single id can be
 * very large.
 */
const maxSelectionBytes = bytesPerSelectedId / maxSelectionsPerId

/**
 * Returns the percent-encoded id, which is the path parameter that nearly every client sends. It is the key of an
 * answer in the cache.
 */
const spell = (canonical: string): string => encodeURIComponent(canonical)

/**
 * Caches lookup answers by id, with a limit in bytes.
 *
 * `find` and `findSpelled` return a reference to the stored bytes, not a copy, so that a lookup copies nothing. The
 * reference is valid until the next `put`, `drop` or `clear`, because these may move or overwrite the bytes. Use the
 * reference in the same synchronous step: never hold it across an `await` or in a callback. `toText` makes a copy that
 * stays valid.
 *
 * Each lookup creates one small object for its reference. A cursor that all lookups share would avoid this object, but
 * each `find` would change the result of the previous one. Measured in the cache alone, on a busy machine, a lookup
 * with the object was slower by 3 ns of 480 ns with 1,000 ids (mean of 8 runs), and by 32 ns of 1,290 ns with 60,000
 * ids (mean of 14 runs, which ranged from -125 to +101 ns). Whole requests were not measured.
 */
export class LookupCache {
  readonly #slabs: SlabStorage
  /**
   * Maps other spellings that were requested to the keys of their answers. A spelling always means the same id, so an
   * entry never becomes stale.
   */
  readonly #spellings: BoundedMap<string>
  readonly #selections: BoundedMap<BoundedMap<Precomputed>>

  constructor(options: {
    readonly maxBytes: number
    /** Called when an answer is removed whose views are not written to the database yet. */
    readonly onRemoved: (canonical: string, views: number) => void
  }) {
    const { maxBytes, onRemoved } = options
    this.#slabs = new SlabStorage({
      maxBytes,
      onRemoved: (key, views) => onRemoved(decodeURIComponent(key), views),
    })
    this.#spellings = new BoundedMap(Math.max(16, maxBytes / bytesPerSpelling))
    this.#selections = new BoundedMap(Math.max(16, maxBytes / bytesPerSelectedId))
  }

  get size(): number {
    return this.#slabs.count
  }
  get bytes(): number {
    return this.#slabs.bytes
  }

  /** Finds an answer by the path parameter as the client sent it, without decoding or parsing it. */
  findSpelled(spelling: string): CachedAnswer | undefined {
    const answer = this.#slabs.find(spelling)
    if (answer !== undefined) return answer
    const key = this.#spellings.get(spelling)
    return key === undefined ? undefined : this.#slabs.find(key)
  }
  learnSpelling(canonical: string, spelling: string): void {
    if (spelling.length <= maxSpellingUnits) this.#spellings.set(spelling, spell(canonical))
  }

  find(canonical: string): CachedAnswer | undefined {
    return this.#slabs.find(spell(canonical))
  }

  put(canonical: string, { body, own }: LookupAnswer, freshUntil = 0): void {
    const key = spell(canonical)
    this.#selections.delete(key)
    const answer = this.#slabs.put(key, own, own === "" ? "" : body)
    if (answer !== undefined) answer.freshUntil = freshUntil
  }

  drop(canonical: string): void {
    const key = spell(canonical)
    this.#selections.delete(key)
    this.#slabs.drop(key)
  }

  clear(): void {
    this.#selections.clear()
    this.#slabs.clear()
  }

  /**
   * Returns the cached selection of this answer's records; undefined if it is not cached. `name` identifies the
   * selection, for example by its query string or ticker.
   */
  selection({ key }: CachedAnswer, name: string): Precomputed | undefined {
    return this.#selections.get(key)?.get(name)
  }
  learnSelection({ key }: CachedAnswer, name: string, selected: Precomputed): void {
    if (name.length > maxSpellingUnits || selected.body.length > maxSelectionBytes) return
    const selections = this.#selections.get(key) ?? new BoundedMap(maxSelectionsPerId)
    this.#selections.set(key, selections.set(name, selected))
  }

  takeViews(canonical: string): number {
    const answer = this.find(canonical)
    if (answer === undefined) return 0
    const { views } = answer
    answer.views = 0
    return views
  }
}

import { BoundedMap } from "../../../actors/bounded-map.ts"
import type { Precomputed } from "../../http/endpoint.ts"
import { heads, type LookupAnswer, missing, notRegistered } from "./answer.ts"
import { SlabStorage } from "./slab-storage.ts"

const maxSpellingUnits = 512
/** Of one id. */
const maxSelections = 8
/** Spellings and selections are for the few who do not ask as most do: a part of the bytes, guessed at by the piece. */
const bytesPerSpelling = 4096
const bytesPerSelected = 65_536
/** One that is larger is made anew each time: an id may have as many bytes of records as hundreds have together. */
const maxSelectionBytes = bytesPerSelected / maxSelections

/** The path parameter as nearly every client sends it, and the name of an answer here. */
const spell = (canonical: string): string => encodeURIComponent(canonical)
const canonicalOf = (key: string): string => decodeURIComponent(key)

/** The current answer of the slabs, as it is sent. */
class CurrentAnswer implements Precomputed {
  readonly head = heads.found
  readonly #slabs: SlabStorage
  constructor(slabs: SlabStorage) {
    this.#slabs = slabs
  }
  get body(): Uint8Array {
    return this.#slabs.body
  }
  copyOwn(into: Uint8Array, at: number): number {
    return this.#slabs.copyOwn(into, at)
  }
}

/**
 * Lookup answers by id, bounded in bytes. Finding one makes it the current one, which all that takes no id is about, until
 * the cache is written to.
 */
export class LookupCache {
  readonly #slabs: SlabStorage
  readonly #current: CurrentAnswer
  /** What a spelling means never changes, so nothing here is ever out of date. */
  readonly #spellings: BoundedMap<string>
  readonly #selections: BoundedMap<BoundedMap<Precomputed>>

  constructor(options: {
    readonly maxBytes: number
    /** Views of an answer that is forgotten. */
    readonly lost: (canonical: string, views: number) => void
  }) {
    const { lost, maxBytes } = options
    this.#slabs = new SlabStorage({ maxBytes, lost: (key, views) => lost(canonicalOf(key), views) })
    this.#current = new CurrentAnswer(this.#slabs)
    this.#spellings = new BoundedMap(Math.max(16, maxBytes / bytesPerSpelling))
    this.#selections = new BoundedMap(Math.max(16, maxBytes / bytesPerSelected))
  }

  get size(): number {
    return this.#slabs.count
  }
  get bytes(): number {
    return this.#slabs.bytes
  }

  /** By the path parameter as it was sent: no decoding, no parsing. */
  findSpelled(spelling: string): boolean {
    if (this.#slabs.find(spelling)) return true
    const key = this.#spellings.get(spelling)
    return key !== undefined && this.#slabs.find(key)
  }
  learnSpelling(canonical: string, spelling: string): void {
    if (spelling.length <= maxSpellingUnits) this.#spellings.set(spelling, spell(canonical))
  }

  find(canonical: string): boolean {
    return this.#slabs.find(spell(canonical))
  }

  put(canonical: string, { body, own }: LookupAnswer, freshUntil = 0): void {
    const key = spell(canonical)
    this.#selections.delete(key)
    if (this.#slabs.put(key, own, own === "" ? "" : body)) this.#slabs.freshUntil = freshUntil
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

  get canonical(): string {
    return canonicalOf(this.#slabs.key)
  }
  get isRegistered(): boolean {
    return this.#slabs.hasOwn
  }
  get own(): string {
    return this.#slabs.own
  }
  get answer(): Precomputed {
    return this.#slabs.hasOwn ? this.#current : missing
  }
  read(): LookupAnswer {
    return this.isRegistered ? { own: this.own, body: this.#slabs.bodyText } : notRegistered
  }

  /** What was selected from the answer before, by query string or ticker. */
  selection(name: string): Precomputed | undefined {
    return this.#selections.get(this.#slabs.key)?.get(name)
  }
  learnSelection(name: string, selected: Precomputed): void {
    if (name.length > maxSpellingUnits || selected.body.length > maxSelectionBytes) return
    const { key } = this.#slabs
    const selections = this.#selections.get(key) ?? new BoundedMap(maxSelections)
    this.#selections.set(key, selections.set(name, selected))
  }

  use(): void {
    this.#slabs.use()
  }
  /** The views nobody took yet, this one included. */
  addView(): number {
    const views = this.#slabs.views + 1
    this.#slabs.views = views
    return views
  }
  takeViews(canonical: string): number {
    if (!this.find(canonical)) return 0
    const { views } = this.#slabs
    this.#slabs.views = 0
    return views
  }
  get freshUntil(): number {
    return this.#slabs.freshUntil
  }
  set freshUntil(until: number) {
    this.#slabs.freshUntil = until
  }
}

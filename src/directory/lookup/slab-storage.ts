import { answerHeadBytes, CachedAnswer, type Segment } from "./cached-answer.ts"
import { alignWord, SlabKey } from "./slab-key.ts"

/**
 * A place is a location in the storage, counted in units of eight bytes (2 to the power of 3), so that a 32-bit number
 * is enough for the whole storage.
 */
const unitBits = 3
const slotBytes = 8
const minSegmentBits = 16
const maxSegmentBits = 20
const wantedSegments = 16
const firstSlots = 1024

const align = (bytes: number): number => (bytes + 7) & ~7
const floorPower = (n: number): number => 2 ** Math.floor(Math.log2(n))

export interface SlabStorageOptions {
  readonly maxBytes: number
  /** Called when an answer is removed whose views are not written to the database yet. */
  readonly onRemoved: (key: string, views: number) => void
}

/**
 * Stores answers as the bytes that are sent, in a few large blocks (segments) that the garbage collector does not scan.
 * The memory has an exact upper bound, and a hundred thousand answers do not slow the garbage collector down. A lookup
 * reads memory at only two places that may not be in the processor's cache: the slot of the index and the answer. Keys
 * are ASCII.
 *
 * Segments are filled one after the other. When all are full, the oldest segment is swept (second-chance replacement):
 * answers that were used since the segment's last sweep stay, up to half of the segment. The other answers are removed.
 *
 * A returned answer is valid until the next `put`, `drop` or `clear`.
 */
export class SlabStorage {
  readonly #onRemoved: SlabStorageOptions["onRemoved"]
  readonly #segmentBits: number
  readonly #segmentBytes: number
  readonly #maxSegments: number
  readonly #maxSlots: number
  readonly #segments: Array<Segment> = []
  #newest = -1
  /**
   * The hash index, with linear probing. Each slot has two numbers: the hash of a key, and the place of its answer plus
   * one. An empty slot has 0 as its second number.
   */
  #slots = new Uint32Array(2 * firstSlots)
  #mask = firstSlots - 1
  #count = 0
  readonly #wanted = new SlabKey()

  constructor({ maxBytes, onRemoved }: SlabStorageOptions) {
    this.#onRemoved = onRemoved
    const forSlots = maxBytes / 4
    this.#maxSlots = Math.max(firstSlots, floorPower(forSlots / slotBytes))
    const forSegments = maxBytes - this.#maxSlots * slotBytes
    const bits = Math.log2(floorPower(forSegments / wantedSegments))
    this.#segmentBits = Math.min(maxSegmentBits, Math.max(minSegmentBits, bits))
    this.#segmentBytes = 2 ** this.#segmentBits
    this.#maxSegments = Math.max(1, Math.floor(forSegments / this.#segmentBytes))
    this.#addSegment()
  }

  get count(): number {
    return this.#count
  }
  get bytes(): number {
    return this.#segments.length * this.#segmentBytes + this.#slots.byteLength
  }

  find(key: string): CachedAnswer | undefined {
    const wanted = this.#wanted
    if (!wanted.load(key)) return undefined
    const { hash, length, words } = wanted
    const slots = this.#slots
    const mask = this.#mask
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const named = slots[2 * slot + 1]!
      if (named === 0) return undefined
      if (slots[2 * slot] !== hash) continue
      const answer = this.#answerAt(named - 1)
      if (answer.hasKey(words, length)) return answer
    }
  }

  /**
   * Stores an answer and returns it. `own` must be ASCII. If the key already has an answer, its views are kept.
   * Returns undefined, and stores nothing, if the key is not valid or the answer is larger than half a segment. In the
   * second case, an earlier answer of the key is removed.
   */
  put(key: string, own: string, body: string): CachedAnswer | undefined {
    const bodyBytes = Buffer.byteLength(body)
    const size = align(answerHeadBytes + alignWord(key.length) + own.length + bodyBytes)
    const known = this.find(key)
    const { hash, length } = this.#wanted
    if (length === 0) return undefined
    if (known !== undefined && known.size >= size) {
      known.write(key, own, body, bodyBytes)
      return known
    }
    const views = known?.views ?? 0
    if (known !== undefined) this.#unlink(known)
    if (size > this.#segmentBytes / 2) {
      if (views > 0) this.#onRemoved(key, views)
      return undefined
    }
    const added = this.#append(hash, size)
    added.write(key, own, body, bodyBytes)
    added.views = views
    return added
  }

  drop(key: string): void {
    const answer = this.find(key)
    if (answer !== undefined) this.#remove(answer)
  }

  clear(): void {
    for (let number = 0; number < this.#segments.length; number++) this.#sweep(number, 0)
  }

  #answerAt(place: number): CachedAnswer {
    const segment = this.#segments[place >>> (this.#segmentBits - unitBits)]!
    return new CachedAnswer(segment, (place << unitBits) & (this.#segmentBytes - 1), place)
  }
  #placeOf(segment: number, at: number): number {
    return ((segment << (this.#segmentBits - unitBits)) | (at >>> unitBits)) >>> 0
  }

  #addSegment(): void {
    const bytes = new Uint8Array(this.#segmentBytes)
    const { buffer } = bytes
    const segment = { buffer, bytes, texts: Buffer.from(buffer), words: new Int32Array(buffer), filled: 0 }
    this.#newest = this.#segments.push(segment) - 1
  }

  #append(hash: number, size: number): CachedAnswer {
    this.#makeRoom(size)
    const segment = this.#segments[this.#newest]!
    const answer = this.#answerAt(this.#placeOf(this.#newest, segment.filled))
    segment.filled += size
    answer.init(hash, size)
    if (2 * (this.#count + 1) > this.#mask && this.#mask + 1 < this.#maxSlots) this.#growIndex()
    this.#index(hash, answer.place + 1)
    this.#count++
    return answer
  }

  #makeRoom(size: number): void {
    for (;;) {
      const isFull = this.#segments[this.#newest]!.filled + size > this.#segmentBytes
      if (!isFull && this.#count < this.#maxSlots / 2) return
      if (isFull && this.#segments.length < this.#maxSegments) {
        this.#addSegment()
      } else {
        this.#newest = (this.#newest + 1) % this.#segments.length
        this.#sweep(this.#newest, this.#segmentBytes / 2)
      }
    }
  }

  /** Moves the used answers to the beginning of the segment, up to `maxKept` bytes, and removes all other answers. */
  #sweep(number: number, maxKept: number): void {
    const segment = this.#segments[number]!
    let kept = 0
    for (let read = 0, size = 0; read < segment.filled; read += size) {
      const answer = this.#answerAt(this.#placeOf(number, read))
      size = answer.size
      if (answer.isRemoved) continue
      if (!answer.wasUsed || kept + size > maxKept) {
        this.#remove(answer)
        continue
      }
      answer.wasUsed = false
      const slot = this.#slotOf(answer)
      segment.bytes.copyWithin(kept, read, read + size)
      this.#slots[2 * slot + 1] = this.#placeOf(number, kept) + 1
      kept += size
    }
    segment.filled = kept
  }

  #remove(answer: CachedAnswer): void {
    const { views } = answer
    if (views > 0) this.#onRemoved(answer.key, views)
    this.#unlink(answer)
  }

  #unlink(answer: CachedAnswer): void {
    this.#emptySlot(this.#slotOf(answer))
    answer.markRemoved()
    this.#count--
  }

  #slotOf({ hash, place }: CachedAnswer): number {
    let slot = hash & this.#mask
    while (this.#slots[2 * slot + 1] !== place + 1) slot = (slot + 1) & this.#mask
    return slot
  }

  #index(hash: number, named: number): void {
    let slot = hash & this.#mask
    while (this.#slots[2 * slot + 1] !== 0) slot = (slot + 1) & this.#mask
    this.#slots[2 * slot] = hash
    this.#slots[2 * slot + 1] = named
  }

  #growIndex(): void {
    const old = this.#slots
    this.#slots = new Uint32Array(2 * old.length)
    this.#mask = old.length - 1
    for (let at = 0; at < old.length; at += 2) if (old[at + 1] !== 0) this.#index(old[at]!, old[at + 1]!)
  }

  /**
   * Empties a slot. Entries after it move towards it as far as their hashes allow, so that a search can stop at the
   * first empty slot.
   */
  #emptySlot(slot: number): void {
    const slots = this.#slots
    let hole = slot
    for (let next = (hole + 1) & this.#mask; slots[2 * next + 1] !== 0; next = (next + 1) & this.#mask) {
      const wanted = slots[2 * next]! & this.#mask
      if (((next - wanted) & this.#mask) < ((next - hole) & this.#mask)) continue
      slots[2 * hole] = slots[2 * next]!
      slots[2 * hole + 1] = slots[2 * next + 1]!
      hole = next
    }
    slots[2 * hole + 1] = 0
  }
}

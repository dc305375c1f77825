import { alignWord, SlabKey } from "./slab-key.ts"

// What a record begins with, in words of four bytes: its size in bytes, its hash, the lengths of the three texts that follow
// the words (a key of none: the record is over), and what its user keeps there.
const sizeWord = 0
const hashWord = 1
const keyWord = 2
const ownWord = 3
const bodyWord = 4
const freshUntilWord = 5
const viewsWord = 6
const wasUsedWord = 7
const headBytes = 32
/** A place counts units of eight bytes, so that one 32-bit number names any of them. */
const unitBits = 3
const slotBytes = 8
const minSegmentBits = 16
const maxSegmentBits = 20
const wantedSegments = 16
const firstSlots = 1024

const align = (bytes: number): number => (bytes + 7) & ~7
const floorPower = (n: number): number => 2 ** Math.floor(Math.log2(n))

interface Segment {
  readonly buffer: ArrayBuffer
  readonly bytes: Uint8Array
  readonly words: Int32Array
  /** The same memory, for writing texts into it. */
  readonly texts: Buffer
  filled: number
}

export interface SlabStorageOptions {
  readonly maxBytes: number
  /** Views of an answer that goes, before anybody asked for them. */
  readonly lost: (key: string, views: number) => void
}

/**
 * Answers as the bytes that will be sent, in a few large blocks the garbage collector never looks into: memory is bounded
 * to the byte, a hundred thousand answers cost it nothing, and one lookup touches two places of cold memory, the slot and
 * the record. Keys are ASCII.
 *
 * Blocks are filled one after the other. When all are full the oldest is swept (second chance): what was asked for since
 * its last sweep stays, the rest makes room.
 *
 * `find` makes one answer the current one, which the methods without a key are about, until the next `find`, `put`, `drop`
 * or `clear`.
 */
export class SlabStorage {
  readonly #lost: SlabStorageOptions["lost"]
  readonly #segmentBits: number
  readonly #segmentBytes: number
  readonly #maxSegments: number
  readonly #maxSlots: number
  readonly #segments: Array<Segment> = []
  #newest = -1
  /** Pairs of a hash and a place plus one; linear probing. */
  #slots = new Uint32Array(2 * firstSlots)
  #mask = firstSlots - 1
  #count = 0
  readonly #asked = new SlabKey()

  // The current answer.
  #segment: Segment
  #at = 0
  #place = 0

  constructor({ lost, maxBytes }: SlabStorageOptions) {
    this.#lost = lost
    const forSlots = maxBytes / 4
    this.#maxSlots = Math.max(firstSlots, floorPower(forSlots / slotBytes))
    const forSegments = maxBytes - this.#maxSlots * slotBytes
    const bits = Math.log2(floorPower(forSegments / wantedSegments))
    this.#segmentBits = Math.min(maxSegmentBits, Math.max(minSegmentBits, bits))
    this.#segmentBytes = 2 ** this.#segmentBits
    this.#maxSegments = Math.max(1, Math.floor(forSegments / this.#segmentBytes))
    this.#segment = this.#addSegment()
  }

  get count(): number {
    return this.#count
  }
  get bytes(): number {
    return this.#segments.length * this.#segmentBytes + this.#slots.byteLength
  }

  find(key: string): boolean {
    const asked = this.#asked
    if (!asked.load(key)) return false
    const { hash, length, words: askedWords } = asked
    const end = alignWord(length) >> 2
    const slots = this.#slots
    const mask = this.#mask
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const named = slots[2 * slot + 1]!
      if (named === 0) return false
      if (slots[2 * slot] !== hash) continue
      const place = named - 1
      const segment = this.#segments[place >>> (this.#segmentBits - unitBits)]!
      const at = (place << unitBits) & (this.#segmentBytes - 1)
      const { words } = segment
      if (words[(at >> 2) + keyWord] !== length) continue
      const start = (at + headBytes) >> 2
      let same = 0
      while (same < end && words[start + same] === askedWords[same]) same++
      if (same < end) continue
      this.#segment = segment
      this.#at = at
      this.#place = place
      return true
    }
  }

  /** `own` is ASCII. Views of the answer it replaces are kept. An answer too large to share a block is not kept. */
  put(key: string, own: string, body: string): boolean {
    const bodyBytes = Buffer.byteLength(body)
    const size = align(headBytes + alignWord(key.length) + own.length + bodyBytes)
    const isKnown = this.find(key)
    const { hash, length } = this.#asked
    if (length === 0) return false
    const views = isKnown ? this.views : 0
    if (!isKnown || this.#get(sizeWord) < size) {
      if (isKnown) this.#remove()
      if (size > this.#segmentBytes / 2) {
        if (views > 0) this.#lost(key, views)
        return false
      }
      this.#append(hash, size)
    }
    this.#set(keyWord, key.length)
    this.#set(ownWord, own.length)
    this.#set(bodyWord, bodyBytes)
    this.#set(viewsWord, views)
    const { texts } = this.#segment
    const ownStart = this.#ownStart()
    texts.fill(0, this.#at + headBytes, ownStart)
    texts.write(key, this.#at + headBytes, "latin1")
    texts.write(own, ownStart, "latin1")
    texts.write(body, ownStart + own.length, bodyBytes, "utf8")
    return true
  }

  drop(key: string): void {
    if (this.find(key)) this.#lose()
  }

  clear(): void {
    for (let at = 0; at < this.#segments.length; at++) this.#sweep(at, 0)
  }

  get key(): string {
    const start = this.#at + headBytes
    return this.#segment.texts.toString("latin1", start, start + this.#get(keyWord))
  }
  /** Whether the answer has lines of its own. */
  get hasOwn(): boolean {
    return this.#get(ownWord) > 0
  }
  get own(): string {
    const start = this.#ownStart()
    return this.#segment.texts.toString("latin1", start, start + this.#get(ownWord))
  }
  copyOwn(into: Uint8Array, at: number): number {
    const { bytes } = this.#segment
    const start = this.#ownStart()
    const length = this.#get(ownWord)
    for (let i = 0; i < length; i++) into[at + i] = bytes[start + i]!
    return at + length
  }
  get body(): Uint8Array {
    const start = this.#ownStart() + this.#get(ownWord)
    return new Uint8Array(this.#segment.buffer, start, this.#get(bodyWord))
  }
  get bodyText(): string {
    const start = this.#ownStart() + this.#get(ownWord)
    return this.#segment.texts.toString("utf8", start, start + this.#get(bodyWord))
  }

  use(): void {
    this.#set(wasUsedWord, 1)
  }
  /** Kept when the answer is replaced. */
  get views(): number {
    return this.#get(viewsWord)
  }
  set views(views: number) {
    this.#set(viewsWord, views)
  }
  get freshUntil(): number {
    return this.#get(freshUntilWord)
  }
  set freshUntil(until: number) {
    this.#set(freshUntilWord, until)
  }

  #ownStart(): number {
    return this.#at + headBytes + alignWord(this.#get(keyWord))
  }
  #get(word: number): number {
    return this.#segment.words[(this.#at >> 2) + word]!
  }
  #set(word: number, value: number): void {
    this.#segment.words[(this.#at >> 2) + word] = value
  }
  #moveTo(segment: number, at: number): void {
    this.#segment = this.#segments[segment]!
    this.#at = at
    this.#place = ((segment << (this.#segmentBits - unitBits)) | (at >>> unitBits)) >>> 0
  }

  #addSegment(): Segment {
    const bytes = new Uint8Array(this.#segmentBytes)
    const { buffer } = bytes
    const segment = { buffer, bytes, texts: Buffer.from(buffer), words: new Int32Array(buffer), filled: 0 }
    this.#newest = this.#segments.push(segment) - 1
    return segment
  }

  #append(hash: number, size: number): void {
    this.#makeRoom(size)
    const segment = this.#segments[this.#newest]!
    this.#moveTo(this.#newest, segment.filled)
    segment.filled += size
    segment.words.fill(0, this.#at >> 2, (this.#at + headBytes) >> 2)
    this.#set(sizeWord, size)
    this.#set(hashWord, hash)
    if (2 * (this.#count + 1) > this.#mask && this.#mask + 1 < this.#maxSlots) this.#growIndex()
    this.#index(hash, this.#place + 1)
    this.#count++
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

  /** Moves what was used to the segment's beginning, up to so many bytes, and forgets the rest. */
  #sweep(number: number, maxKept: number): void {
    const segment = this.#segments[number]!
    let kept = 0
    for (let read = 0, size = 0; read < segment.filled; read += size) {
      this.#moveTo(number, read)
      size = this.#get(sizeWord)
      if (this.#get(keyWord) === 0) continue
      if (this.#get(wasUsedWord) === 0 || kept + size > maxKept) {
        this.#lose()
        continue
      }
      this.#set(wasUsedWord, 0)
      const slot = this.#slot()
      segment.bytes.copyWithin(kept, read, read + size)
      this.#moveTo(number, kept)
      this.#slots[2 * slot + 1] = this.#place + 1
      kept += size
    }
    segment.filled = kept
  }

  #lose(): void {
    const { views } = this
    if (views > 0) this.#lost(this.key, views)
    this.#remove()
  }

  #remove(): void {
    this.#unindex(this.#slot())
    this.#set(keyWord, 0)
    this.#count--
  }

  #slot(): number {
    let slot = this.#get(hashWord) & this.#mask
    while (this.#slots[2 * slot + 1] !== this.#place + 1) slot = (slot + 1) & this.#mask
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

  /** Those behind the hole move up as far as their own slot allows, so that a search may stop at the first empty one. */
  #unindex(slot: number): void {
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

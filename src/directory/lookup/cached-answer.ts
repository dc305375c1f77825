import type { Precomputed } from "../../http/endpoint.ts"
import { heads, type LookupAnswer, missing, notRegistered } from "./answer.ts"
import { alignWord } from "./slab-key.ts"

/**
 * A block of memory that contains answers one after the other. `bytes`, `words` and `texts` are views of the same
 * buffer.
 */
export interface Segment {
  readonly buffer: ArrayBuffer
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly texts: Buffer
  filled: number
}

// An answer begins with eight 32-bit words: its size in bytes, the hash of its key, the lengths of its key, header
// lines and body, and three values of the cache (freshUntil, views, wasUsed). The texts of key, header lines and body
// follow. A removed answer has key length 0.
const sizeWord = 0
const hashWord = 1
const keyWord = 2
const ownWord = 3
const bodyWord = 4
const freshUntilWord = 5
const viewsWord = 6
const wasUsedWord = 7
export const answerHeadBytes = 32

/** A reference to the bytes of one stored answer. It is valid until the storage is written to (see LookupCache). */
export class CachedAnswer implements Precomputed {
  readonly #segment: Segment
  /** The offset of the answer in its segment, in bytes. */
  readonly #at: number
  /** The location of the answer in the whole storage, counted in units of eight bytes. */
  readonly place: number

  constructor(segment: Segment, at: number, place: number) {
    this.#segment = segment
    this.#at = at
    this.place = place
  }

  get head() {
    return heads.found
  }
  get body(): Uint8Array {
    return new Uint8Array(this.#segment.buffer, this.#bodyStart(), this.#get(bodyWord))
  }
  get bodyBytes(): number {
    return this.#get(bodyWord)
  }
  /** Copies the body to `into`, starting at `at`. Returns the position after the last copied byte. */
  copyBody(into: Buffer, at: number): number {
    const start = this.#bodyStart()
    return at + this.#segment.texts.copy(into, at, start, start + this.#get(bodyWord))
  }
  /** Copies the body like `copyBody`, but without the brace at its start, so that members can be written before it. */
  copyMembers(into: Buffer, at: number): number {
    const start = this.#bodyStart()
    return at + this.#segment.texts.copy(into, at, start + 1, start + this.#get(bodyWord))
  }
  copyOwn(into: Uint8Array, at: number): number {
    const { bytes } = this.#segment
    const start = this.#ownStart()
    const length = this.#get(ownWord)
    for (let i = 0; i < length; i++) into[at + i] = bytes[start + i]!
    return at + length
  }

  get key(): string {
    const start = this.#at + answerHeadBytes
    return this.#segment.texts.toString("latin1", start, start + this.#get(keyWord))
  }
  get canonical(): string {
    return decodeURIComponent(this.key)
  }
  /** Whether the id is registered. Only answers of registered ids have header lines. */
  get isRegistered(): boolean {
    return this.#get(ownWord) > 0
  }
  get own(): string {
    const start = this.#ownStart()
    return this.#segment.texts.toString("latin1", start, start + this.#get(ownWord))
  }
  /** The response to send: this answer, or the 404 that all unregistered ids share. */
  get response(): Precomputed {
    return this.isRegistered ? this : missing
  }
  /** Returns a copy of the answer as text. The copy stays valid when the storage is written to. */
  toText(): LookupAnswer {
    if (!this.isRegistered) return notRegistered
    const start = this.#bodyStart()
    return { own: this.own, body: this.#segment.texts.toString("utf8", start, start + this.#get(bodyWord)) }
  }

  /**
   * The number of views that are not written to the database yet. When the answer is replaced, the new answer keeps
   * this number.
   */
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
  /** Readers set this to true, so that the next sweep of the segment does not remove the answer. */
  get wasUsed(): boolean {
    return this.#get(wasUsedWord) !== 0
  }
  set wasUsed(wasUsed: boolean) {
    this.#set(wasUsedWord, wasUsed ? 1 : 0)
  }

  get size(): number {
    return this.#get(sizeWord)
  }
  get hash(): number {
    return this.#get(hashWord)
  }
  get isRemoved(): boolean {
    return this.#get(keyWord) === 0
  }
  markRemoved(): void {
    this.#set(keyWord, 0)
  }
  init(hash: number, size: number): void {
    const { words } = this.#segment
    words.fill(0, this.#at >> 2, (this.#at + answerHeadBytes) >> 2)
    this.#set(sizeWord, size)
    this.#set(hashWord, hash)
  }
  write(key: string, own: string, body: string, bodyBytes: number): void {
    this.#set(keyWord, key.length)
    this.#set(ownWord, own.length)
    this.#set(bodyWord, bodyBytes)
    const { texts } = this.#segment
    const ownStart = this.#ownStart()
    texts.fill(0, this.#at + answerHeadBytes, ownStart)
    texts.write(key, this.#at + answerHeadBytes, "latin1")
    texts.write(own, ownStart, "latin1")
    texts.write(body, ownStart + own.length, bodyBytes, "utf8")
  }

  /** Whether this answer has the given key. Compares 32-bit words, which is faster than comparing characters. */
  hasKey(words: Int32Array, length: number): boolean {
    if (this.#get(keyWord) !== length) return false
    const stored = this.#segment.words
    const start = (this.#at + answerHeadBytes) >> 2
    const end = alignWord(length) >> 2
    let same = 0
    while (same < end && stored[start + same] === words[same]) same++
    return same === end
  }

  /** Whether both answers have the same header lines. Compares bytes, which is faster than making texts. */
  hasOwnOf(other: CachedAnswer): boolean {
    const length = this.#get(ownWord)
    if (other.#get(ownWord) !== length) return false
    const { bytes } = this.#segment
    const others = other.#segment.bytes
    const start = this.#ownStart()
    const otherStart = other.#ownStart()
    let same = 0
    while (same < length && bytes[start + same] === others[otherStart + same]) same++
    return same === length
  }

  #ownStart(): number {
    return this.#at + answerHeadBytes + alignWord(this.#get(keyWord))
  }
  #bodyStart(): number {
    return this.#ownStart() + this.#get(ownWord)
  }
  #get(word: number): number {
    return this.#segment.words[(this.#at >> 2) + word]!
  }
  #set(word: number, value: number): void {
    this.#segment.words[(this.#at >> 2) + word] = value
  }
}

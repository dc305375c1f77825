import type { Prepared, PreparedHead } from "../http/exchange.ts"
import { isRegistered } from "./lookup-answer.ts"

/** What one id costs beside its texts: the entry, its places in two maps, the objects of its answer. */
const entryBytes = 500
const spellingBytes = 80
const maxSpellings = 8
const maxSpellingUnits = 512
const maxSelections = 8

/** V8 keeps a text in one byte per unit when it can. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the question is about every unit up to 255
const isLatin1 = (text: string): boolean => !/[^\u0000-\u00ff]/.test(text)
const textBytes = (text: string): number => (isLatin1(text) ? text.length : 2 * text.length)

const answerBytes = ({ body, own }: Prepared): number => textBytes(body as string) + own.length

/** Is the answer itself: each object less on the way to the text is a look into cold memory less. */
export class LookupEntry implements Prepared {
  readonly canonical: string
  head: PreparedHead
  own: string
  body: string
  /** When the view count may be read again, in ticks of the cache's owner. */
  freshUntil = 0
  /** Views not yet handed over. */
  pendingViews = 0
  /** Asked for since the last time the hand came by. */
  wasUsed = false
  bytes = 0
  /** The path parameters that led here, as they were sent. */
  spellings: Array<string> = []
  /** Selections made before, by query string and by ticker. */
  selections: Map<string, Prepared> | undefined
  newer: LookupEntry | undefined
  older: LookupEntry | undefined

  constructor(canonical: string, answer: Prepared) {
    this.canonical = canonical
    this.head = answer.head
    this.own = answer.own
    this.body = answer.body as string
  }

  replace({ body, head, own }: Prepared): void {
    this.head = head
    this.own = own
    this.body = body as string
    this.selections = undefined
  }
}

/**
 * Answers by id, bounded in bytes. What goes is decided by a clock hand (second chance): a use only sets a flag, and the
 * hand, passing the oldest entries when room is needed, gives those with the flag another round.
 */
export class LookupCache {
  readonly #maxBytes: number
  readonly #bySpelling = new Map<string, LookupEntry>()
  readonly #byCanonical = new Map<string, LookupEntry>()
  #newest: LookupEntry | undefined
  #oldest: LookupEntry | undefined
  #bytes = 0

  constructor(options: { readonly maxBytes: number }) {
    this.#maxBytes = options.maxBytes
  }

  get size(): number {
    return this.#byCanonical.size
  }
  get bytes(): number {
    return this.#bytes
  }

  /** By the path parameter as it was sent: no decoding, no parsing. */
  findSpelled(spelling: string): LookupEntry | undefined {
    return this.#bySpelling.get(spelling)
  }

  find(canonical: string): LookupEntry | undefined {
    return this.#byCanonical.get(canonical)
  }

  /** An answer too large for its share is handed back and not kept. */
  put(canonical: string, answer: Prepared): LookupEntry {
    const known = this.#byCanonical.get(canonical)
    if (known !== undefined) {
      known.replace(answer)
      this.#resize(known)
      return known
    }
    const entry = new LookupEntry(canonical, answer)
    if (answerBytes(answer) > this.#maxBytes / 8) return entry
    this.#byCanonical.set(canonical, entry)
    this.#link(entry)
    this.#resize(entry)
    return entry
  }

  learnSpelling(entry: LookupEntry, spelling: string): void {
    if (spelling.length > maxSpellingUnits || !this.#holds(entry)) return
    if (this.#bySpelling.has(spelling)) return
    if (entry.spellings.length >= maxSpellings) this.#bySpelling.delete(entry.spellings.shift() ?? "")
    entry.spellings.push(spelling)
    this.#bySpelling.set(spelling, entry)
    this.#resize(entry)
  }

  learnSelection(entry: LookupEntry, name: string, selected: Prepared): void {
    if (name.length > maxSpellingUnits || !this.#holds(entry)) return
    // Whoever fills the places with odd queries only makes the honest ones be made once more.
    if (entry.selections === undefined || entry.selections.size >= maxSelections) entry.selections = new Map()
    entry.selections.set(name, selected)
    this.#resize(entry)
  }

  drop(canonical: string): void {
    const entry = this.#byCanonical.get(canonical)
    if (entry !== undefined) this.#remove(entry)
  }

  clear(): void {
    this.#bySpelling.clear()
    this.#byCanonical.clear()
    this.#newest = undefined
    this.#oldest = undefined
    this.#bytes = 0
  }

  #holds(entry: LookupEntry): boolean {
    return this.#byCanonical.get(entry.canonical) === entry
  }

  #resize(entry: LookupEntry): void {
    let bytes = entryBytes + 2 * entry.canonical.length
    // The answer for what is not registered is one for all.
    if (isRegistered(entry)) bytes += answerBytes(entry)
    for (const spelling of entry.spellings) bytes += spellingBytes + textBytes(spelling)
    for (const [name, selected] of entry.selections ?? [])
      bytes += spellingBytes + textBytes(name) + answerBytes(selected)
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    while (this.#bytes > this.#maxBytes && this.#oldest !== undefined) this.#turnHand(this.#oldest)
  }

  #turnHand(oldest: LookupEntry): void {
    if (oldest.wasUsed) {
      oldest.wasUsed = false
      this.#unlink(oldest)
      this.#link(oldest)
    } else this.#remove(oldest)
  }

  #remove(entry: LookupEntry): void {
    for (const spelling of entry.spellings) this.#bySpelling.delete(spelling)
    this.#byCanonical.delete(entry.canonical)
    this.#bytes -= entry.bytes
    this.#unlink(entry)
  }

  #link(entry: LookupEntry): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest !== undefined) this.#newest.newer = entry
    this.#newest = entry
    this.#oldest ??= entry
  }

  #unlink(entry: LookupEntry): void {
    if (entry.newer === undefined) this.#newest = entry.older
    else entry.newer.older = entry.older
    if (entry.older === undefined) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    entry.newer = undefined
    entry.older = undefined
  }
}

import type postgres from "postgres"
import type { Luck } from "../../fixtures/walk.ts"
import { Connection, type RawAnswer } from "./connection.ts"
import { anonymous, type Caller, type Draft, namesItsRow, shown, written } from "./draft.ts"
import { isSuccess } from "./operations.ts"
import { faultOf } from "./oracle.ts"
import { Pool } from "./pool.ts"
import { Samples } from "./samples.ts"
import type { Tally } from "./tally.ts"

/** The service that is fuzzed. It has demo data, an administrator, and no rate limits. */
export interface Target {
  readonly port: number
  readonly sql: postgres.Sql
  readonly admin: { readonly email: string; readonly password: string }
  /** The master key in the form of SECRET_KEYS. */
  readonly secretKeys: string
  /** Texts that no response may contain. */
  readonly secrets: ReadonlyArray<string>
}

export interface Answer {
  readonly status: number
  header(name: string): string | undefined
  readonly cookies: ReadonlyArray<string>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: journeys read responses of every form
  readonly json: any
}

/** A request without a response after this time hangs. The service itself answers 503 after 15 seconds. */
const deadlineMs = 40_000
const keptPerOperation = 6
const callersKept = 30
const largestRemembered = 8_000
/**
 * The service accepts a request line and headers of 15,000 bytes together. Above that, and for bytes that are not
 * allowed in a header, uWebSockets.js itself responds or closes the connection.
 */
const largestHead = 12_000

const isLeftToLibrary = (draft: Draft, bytes: Buffer): boolean =>
  bytes.indexOf("\r\n\r\n") > largestHead ||
  draft.lines !== undefined ||
  draft.method === "BREW" ||
  draft.method === "TRACE" ||
  /^[^/]|[^\x20-\x7e]/.test(draft.rawPath ?? "") ||
  Object.values({ ...draft.headers, ...draft.caller.headers }).some((value) => /[^\x20-\x7e]/.test(value))

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const answerOf = ({ body, headers, status }: RawAnswer): Answer => {
  const text = body.toString()
  const all = (name: string) => headers.filter(([known]) => known === name).map(([, value]) => value)
  return {
    status,
    header: (name) => all(name)[0],
    cookies: all("set-cookie"),
    text,
    json: jsonOf(text),
  }
}

const noAnswer: Answer = { status: 0, header: () => undefined, cookies: [], text: "", json: undefined }

/**
 * One sequence of requests on one connection. It remembers the callers, the values and the successful requests of this
 * sequence only, so that its choices depend on the seed and not on other lanes.
 */
export class Lane {
  readonly target: Target
  readonly luck: Luck
  readonly tally: Tally
  readonly pool: Pool
  readonly samples: Samples
  /** Called with every response, for tests that look for something in all of them. */
  heard: (draft: Draft, answer: Answer) => void = () => {}
  readonly #connection: Connection
  readonly #succeeded = new Map<string, Array<Draft>>()
  #callers: Array<Caller> = [anonymous]

  constructor(target: Target, tally: Tally, luck: Luck) {
    this.target = target
    this.luck = luck
    this.tally = tally
    this.pool = new Pool(luck)
    this.samples = new Samples(luck.below(2 ** 31))
    this.#connection = new Connection(target.port)
  }

  /** Adds a caller that later random requests may use. The oldest ones are forgotten, because their logins end. */
  admit(caller: Caller): void {
    this.#callers.push(caller)
    if (this.#callers.length > callersKept) this.#callers = [anonymous, ...this.#callers.slice(2)]
  }

  anyCaller(): Caller {
    return this.luck.chance(0.15) ? anonymous : this.luck.pick(this.#callers)!
  }

  /** Returns a request of this operation that has succeeded before, or undefined. */
  succeeded(operation: string): Draft | undefined {
    return this.luck.pick(this.#succeeded.get(operation) ?? [])
  }

  async send(draft: Draft): Promise<Answer> {
    const bytes = written(draft)
    const outcome = await this.#connection.send(bytes, draft.method === "HEAD", deadlineMs)
    const { row, caller } = draft
    if (outcome.kind !== "answered") {
      this.tally.count(row.id, caller.name, outcome.kind, false)
      if (outcome.kind === "hung" || !isLeftToLibrary(draft, bytes))
        this.tally.violation(`${outcome.kind} without a response: ${shown(draft)}`)
      return noAnswer
    }
    const { answer } = outcome
    const isReached = isSuccess(answer.status) && namesItsRow(draft)
    this.tally.count(row.id, caller.name, answer.status, isReached)
    const fault = this.#isRefusedByLibrary(draft, bytes, answer)
      ? undefined
      : faultOf(draft, answer, this.target.secrets)
    if (fault !== undefined)
      this.tally.violation(
        `${fault}: ${shown(draft)}\n    ${answer.status} ${answer.body.toString().slice(0, 400)}`,
      )
    const read = answerOf(answer)
    this.heard(draft, read)
    if (isReached) this.#remember(draft, bytes.length, read)
    return read
  }

  close(): void {
    this.#connection.close()
  }

  #isRefusedByLibrary(draft: Draft, bytes: Buffer, { headers, status }: RawAnswer): boolean {
    const isBare = !headers.some(([name]) => name === "x-request-id")
    return isBare && [400, 431, 505].includes(status) && isLeftToLibrary(draft, bytes)
  }

  #remember(draft: Draft, bytes: number, { json }: Answer): void {
    this.pool.harvest(draft.row.path, json)
    // Large requests are not mutated again, because they would grow without a limit.
    if (bytes > largestRemembered) return
    const known = this.#succeeded.get(draft.row.id) ?? []
    if (known.length < keptPerOperation) known.push(draft)
    else known[this.luck.below(keptPerOperation)] = draft
    this.#succeeded.set(draft.row.id, known)
  }
}

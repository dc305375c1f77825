import { Unavailable } from "../../../schema/errors.ts"
import { SqlRefused } from "../../../src/postgres/sql-failures.ts"

interface Entity {
  readonly version: number
  readonly turn: string
  readonly status: string
  readonly state: { readonly value: unknown; readonly context: unknown; readonly format: unknown }
}
interface TurnRow {
  readonly id: string
  readonly turn: string
  readonly expected?: number
  readonly status: string
  readonly state: Entity["state"]
}
interface ClaimRow {
  readonly canonical: string
  readonly kind: string
  readonly holder: string
  readonly from_holder?: string
  readonly held?: boolean
}
interface KeyRow {
  readonly caller: string
  readonly key: string
  readonly run: string
  readonly outcome: string
}
interface Batch {
  readonly begun?: ReadonlyArray<TurnRow>
  readonly turned?: ReadonlyArray<TurnRow>
  readonly claims?: ReadonlyArray<ClaimRow>
  readonly releases?: ReadonlyArray<{ readonly id: string; readonly list: ReadonlyArray<string> }>
  readonly ledger?: ReadonlyArray<{ readonly cents: number }>
  readonly keys?: ReadonlyArray<KeyRow>
}
interface Events {
  readonly channels: ReadonlyArray<{ readonly name: string; readonly events: number }>
}
interface Key {
  run: string
  outcome: string | undefined
  commits: number
}

const refuse = (sqlstate: string, detail: unknown, hint: unknown = null): never => {
  throw new SqlRefused({
    message: sqlstate,
    sqlstate,
    constraint: "",
    detail: JSON.stringify(detail),
    hint: JSON.stringify(hint),
  })
}

/**
 * The tables that turns write, in memory, with the rules of the SQL function `commit_batch`: a batch is applied
 * completely or not at all.
 */
export class MemoryDatabase {
  entities = new Map<string, Entity>()
  claims = new Map<string, { readonly kind: string; readonly holder: string }>()
  keys = new Map<string, Key>()
  offsets = new Map<string, number>()
  ledgerCents = 0
  commits = 0

  /** Takes over the key for a new attempt, unless its effect is committed. Returns the stored outcome in that case. */
  begin(key: string, run: string): string | undefined {
    const known = this.keys.get(key)
    if (known?.outcome !== undefined) return known.outcome
    this.keys.set(key, { run, outcome: undefined, commits: known?.commits ?? 0 })
    return undefined
  }

  load(id: string) {
    const entity = this.entities.get(id)
    return entity === undefined ? [] : [{ version: entity.version, ...entity.state }]
  }

  commit(batch: Batch, said: Events | null) {
    const turns = [...(batch.begun ?? []), ...(batch.turned ?? [])]
    const late = turns.filter(({ expected = 0, id }) => (this.entities.get(id)?.version ?? 0) !== expected)
    if (late.length > 0) {
      if (turns.every(({ id, turn }) => this.entities.get(id)?.turn === turn)) return null
      refuse(
        "EI001",
        late.map(({ id }) => id),
      )
    }
    const claims = this.#claimed(batch.claims ?? [])
    for (const { id, list } of batch.releases ?? [])
      for (const canonical of list) if (claims.get(canonical)?.holder === id) claims.delete(canonical)
    const lost = (batch.keys ?? []).filter(({ key, run }) => {
      const known = this.keys.get(key)
      return known?.run !== run || known.outcome !== undefined
    })
    if (lost.length > 0)
      refuse(
        "EI004",
        lost.map(({ run }) => run),
      )
    // Nothing is refused from here on, so the batch is applied as a whole.
    this.claims = claims
    for (const { expected = 0, id, state, status, turn } of turns)
      this.entities.set(id, { version: expected + 1, turn, status, state })
    for (const { key, outcome } of batch.keys ?? []) {
      const known = this.keys.get(key)!
      known.outcome = outcome
      known.commits++
    }
    for (const { cents } of batch.ledger ?? []) this.ledgerCents += cents
    this.commits += turns.length
    if (said === null) return null
    const ends = said.channels.map(({ events, name }) => {
      this.offsets.set(name, (this.offsets.get(name) ?? 0) + events)
      return this.offsets.get(name)!
    })
    return { epoch: "e", at: "2030-01-01T00:00:00.000Z", ends }
  }

  #claimed(wanted: ReadonlyArray<ClaimRow>) {
    const claims = new Map(this.claims)
    const taken: Array<string> = []
    const lost: Array<number> = []
    wanted.forEach(({ canonical, from_holder, held, holder, kind }, i) => {
      const now = claims.get(canonical)
      const isFree = now === undefined && held !== true
      if (isFree || now?.holder === holder || (from_holder !== undefined && now?.holder === from_holder))
        claims.set(canonical, { kind, holder })
      else {
        taken.push(canonical)
        lost.push(i + 1)
      }
    })
    if (lost.length > 0) refuse("EI002", taken, lost)
    return claims
  }
}

export const away = new Unavailable({ error: "The database is not reachable.", retryAfterSeconds: 1 })

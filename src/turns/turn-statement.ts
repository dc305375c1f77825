import type { TurnCommit } from "../../actors/ports.ts"
import { EventsToPlace } from "./event-offsets.ts"
import type { OutboxRow } from "./outbox.ts"

/** A turn and its mail, encrypted. */
export interface WrittenTurn {
  readonly turn: TurnCommit
  readonly mail: ReadonlyArray<OutboxRow>
}

/** Effects whose rows need nothing from the turn. */
const independent = ["claims", "grants", "moves", "free_ids"] as const
/** Effects whose rows get the id of the turn's order. */
const ofOrders = ["ledger", "sandbox_intents"] as const
/** Effects whose rows are stored as one list with the id of the turn's entity. */
const ofEntities = ["releases", "uses"] as const

/** Builds the two parameters of `commit_batch`: the turns with their effects, and their events. */
export const writeTurns = (turns: ReadonlyArray<WrittenTurn>) => {
  const lists: Record<string, Array<unknown>> = {}
  const add = (kind: string, line: unknown) => {
    const list = lists[kind]
    if (list === undefined) lists[kind] = [line]
    else list.push(line)
  }
  for (const { mail, turn: whole } of turns) {
    const { columns, context, effects, expected, format, id, kind, turn, value } = whole
    const { due_at, owner_id, peer_id, status, subject } = columns
    const state = { value, context, format }
    if (expected === 0) add("begun", { kind, id, turn, status, state, owner_id, peer_id, subject, due_at })
    else add("turned", { kind, id, turn, expected, status, state, owner_id, peer_id, subject, due_at })
    for (const effect of independent) for (const line of effects[effect] ?? []) add(effect, line)
    for (const effect of ofOrders)
      for (const line of effects[effect] ?? []) add(effect, { order_id: id, ...line })
    for (const effect of ofEntities) {
      const list = effects[effect]
      if (list !== undefined && list.length > 0) add(effect, { id, list })
    }
    for (const message of mail) add("mail", message)
  }
  const newEvents = new EventsToPlace(turns.map(({ turn }) => turn.effects.events ?? []))
  return { newEvents, text: JSON.stringify(lists) }
}

/** A batch has at most one turn that uses codes: the locks on codes are ordered within one turn only. */
export const mayGoTogether = ({ turn }: WrittenTurn, others: ReadonlyArray<WrittenTurn>): boolean =>
  turn.effects.uses === undefined || others.every((other) => other.turn.effects.uses === undefined)

/** The claims that failed in a statement, by turn. */
export class LostClaims {
  readonly #lost = new Map<WrittenTurn, Array<string>>()
  readonly #had = new Set<string>()

  /** `lost` has the numbers of the failed claims, counted from 1 over all turns. */
  constructor(turns: ReadonlyArray<WrittenTurn>, lost: ReadonlyArray<number>) {
    let counted = 0
    for (const one of turns) {
      const own: Array<string> = []
      for (const { canonical } of one.turn.effects.claims ?? []) {
        if (lost.includes(++counted)) own.push(canonical)
        else this.#had.add(canonical)
      }
      this.#lost.set(one, own)
    }
  }

  /** The ids that the turn could not claim. */
  of(turn: WrittenTurn): ReadonlyArray<string> {
    return this.#lost.get(turn) ?? []
  }

  /** Whether another turn of the statement claimed one of them successfully. */
  isInBatch(canonicals: ReadonlyArray<string>): boolean {
    return canonicals.some((canonical) => this.#had.has(canonical))
  }
}

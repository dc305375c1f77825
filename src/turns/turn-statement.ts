import type { TurnCommit } from "../../actors/ports.ts"
import { EventsToPlace } from "./event-offsets.ts"
import type { OutboxRow } from "./outbox.ts"

/** A turn, and the mail of the turn in its stored form. */
export interface WrittenTurn {
  readonly turn: TurnCommit
  readonly mail: ReadonlyArray<OutboxRow>
}

/** A turn and the turns that are committed with it or not at all. */
const partsOf = ({ turn }: WrittenTurn): ReadonlyArray<TurnCommit> =>
  turn.joined === undefined ? [turn] : [turn, ...turn.joined]

/** Effects whose rows contain everything that the statement needs. */
const independent = ["claims", "grants", "moves", "revokes", "free_ids", "right_codes"] as const
/** Effects to whose rows the id of the turn's order is added. */
const ofOrders = ["ledger", "sandbox_intents"] as const
/** Effects whose rows are sent as one list per turn, together with the id of the turn's entity. */
const ofEntities = ["releases", "uses"] as const

/**
 * Builds the two parameters of `commit_batch`. The first has the turns with their effects, the second their events.
 */
export const writeTurns = (turns: ReadonlyArray<WrittenTurn>) => {
  const lists: Record<string, Array<unknown>> = {}
  const add = (kind: string, line: unknown) => {
    const list = lists[kind]
    if (list === undefined) lists[kind] = [line]
    else list.push(line)
  }
  const addTurn = (whole: TurnCommit) => {
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
  }
  for (const written of turns) {
    if (written.turn.key !== undefined) add("keys", written.turn.key)
    for (const part of partsOf(written)) addTurn(part)
    for (const message of written.mail) add("mail", message)
  }
  const newEvents = new EventsToPlace(
    turns.map((written) => partsOf(written).flatMap(({ effects }) => effects.events ?? [])),
  )
  return { newEvents, text: JSON.stringify(lists) }
}

/**
 * Whether a turn may be in one statement with these other turns. Only one turn of a statement may use codes. Within
 * one turn, codes are locked in a fixed order. Across several turns they are not, and this could cause a deadlock.
 */
export const mayGoTogether = (turn: WrittenTurn, others: ReadonlyArray<WrittenTurn>): boolean =>
  !usesCodes(turn) || !others.some(usesCodes)

/** Whether the turn, or a turn that is committed with it, changes the entity with this id. */
export const changesEntity = (written: WrittenTurn, id: string): boolean =>
  partsOf(written).some((part) => part.id === id)

const usesCodes = (written: WrittenTurn): boolean =>
  partsOf(written).some(({ effects }) => effects.uses !== undefined)

/** For each turn of a batch, the ids that the turn could not claim. */
export class LostClaims {
  readonly #lost = new Map<WrittenTurn, Array<string>>()
  readonly #had = new Set<string>()

  /** `lost` contains the numbers of the failed claims. The claims of all turns are counted together, from 1. */
  constructor(turns: ReadonlyArray<WrittenTurn>, lost: ReadonlyArray<number>) {
    let counted = 0
    for (const one of turns) {
      const own: Array<string> = []
      for (const { effects } of partsOf(one))
        for (const { canonical } of effects.claims ?? []) {
          if (lost.includes(++counted)) own.push(canonical)
          else this.#had.add(canonical)
        }
      this.#lost.set(one, own)
    }
  }

  /** The ids that this turn could not claim. */
  of(turn: WrittenTurn): ReadonlyArray<string> {
    return this.#lost.get(turn) ?? []
  }

  /** Whether another turn of the batch claimed one of these ids successfully. */
  isInBatch(canonicals: ReadonlyArray<string>): boolean {
    return canonicals.some((canonical) => this.#had.has(canonical))
  }
}

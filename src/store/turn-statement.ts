import type { TurnCommit } from "../../actors/ports.ts"
import type { Claim, TurnEffects } from "../../schema/turn.ts"
import type { OutboxRow } from "./outbox.ts"
import { EventsToPlace } from "./placed-events.ts"

/** A turn as it is written down: its mail sealed. */
export interface WrittenTurn extends Omit<TurnCommit, "effects"> {
  readonly effects: Omit<TurnEffects, "mail"> & { readonly mail?: ReadonlyArray<OutboxRow> }
}

/** Effects that name all they are about. */
const complete = ["claims", "grants", "moves", "free_ids", "mail"] as const
/** Effects that are about the turn's order, each line of them. */
const ofOrders = ["ledger", "sandbox_intents"] as const
/** Effects whose lines belong together, and to the turn's entity. */
const ofEntities = ["releases", "uses"] as const

/** The parameter of `commit_turns`, and the events in it. */
export const writeTurns = (turns: ReadonlyArray<WrittenTurn>) => {
  const lists: Record<string, Array<unknown>> = {}
  const add = (kind: string, line: unknown) => {
    const list = lists[kind]
    if (list === undefined) lists[kind] = [line]
    else list.push(line)
  }
  const rows = turns.map(
    ({ context, due_at, effects, expected, id, kind, owner_id, peer_id, status, subject, turn, value }) => {
      for (const effect of complete) for (const line of effects[effect] ?? []) add(effect, line)
      for (const effect of ofOrders)
        for (const line of effects[effect] ?? []) add(effect, { order_id: id, ...line })
      for (const effect of ofEntities) {
        const list = effects[effect]
        if (list !== undefined && list.length > 0) add(effect, { id, list })
      }
      const state = { value, context }
      return { kind, id, expected, turn, status, state, owner_id, peer_id, subject, due_at }
    },
  )
  const said = new EventsToPlace(turns.map(({ effects }) => effects.events ?? []))
  const text = JSON.stringify({ turns: rows, ...lists })
  return { said, text: said.isEmpty ? text : `${text.slice(0, -1)},"events":${said.json}}` }
}

const idOf = ({ canonical }: Claim): string => canonical

/** The uses of codes are locked in the order of one turn only. */
export const mayGoTogether = (turn: WrittenTurn, others: ReadonlyArray<WrittenTurn>): boolean =>
  turn.effects.uses === undefined || others.every((other) => other.effects.uses === undefined)

/** The ids of a statement that were not to be had, by who wanted them. */
export class LostClaims {
  readonly #lost: ReadonlySet<string>
  readonly #had: ReadonlySet<string>

  constructor(
    turns: ReadonlyArray<WrittenTurn>,
    canonicals: ReadonlyArray<string>,
    holders: ReadonlyArray<string>,
  ) {
    this.#lost = new Set(canonicals.map((canonical, i) => `${holders[i]} ${canonical}`))
    this.#had = new Set(
      turns.flatMap(({ effects }) =>
        (effects.claims ?? []).filter((claim) => !this.#isLost(claim)).map(idOf),
      ),
    )
  }

  /** Those the turn wanted for itself. */
  of({ effects }: WrittenTurn): ReadonlyArray<string> {
    return (effects.claims ?? []).filter((claim) => this.#isLost(claim)).map(idOf)
  }

  /** Whether another turn of the statement would have had one of them. */
  isAmongUs(canonicals: ReadonlyArray<string>): boolean {
    return canonicals.some((canonical) => this.#had.has(canonical))
  }

  #isLost({ canonical, holder }: Claim): boolean {
    return this.#lost.has(`${holder} ${canonical}`)
  }
}

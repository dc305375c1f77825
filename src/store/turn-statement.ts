import type { TurnCommit } from "../../actors/ports.ts"
import type { TurnEffects } from "../../schema/turn.ts"
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

const canonicalsOf = ({ effects }: WrittenTurn): ReadonlyArray<string> =>
  (effects.claims ?? []).map(({ canonical }) => canonical)

/** Who wants what another wants is not sent with it, and the uses of codes are locked in the order of one turn only. */
export const mayGoTogether = (turn: WrittenTurn, others: ReadonlyArray<WrittenTurn>): boolean => {
  const wanted = canonicalsOf(turn)
  return others.every(
    (other) =>
      (turn.effects.uses === undefined || other.effects.uses === undefined) &&
      (wanted.length === 0 || !canonicalsOf(other).some((canonical) => wanted.includes(canonical))),
  )
}

/** Whether it is about one of these ids, of entities or of what is claimed. */
export const isAbout = (turn: WrittenTurn, ids: ReadonlyArray<string>): boolean =>
  ids.includes(turn.id) || canonicalsOf(turn).some((canonical) => ids.includes(canonical))

import type {
  ChannelEvent,
  Claim,
  CodeUse,
  FreeIds,
  Grant,
  JoinedEvent,
  LedgerLine,
  Mail,
  Move,
  Revoke,
} from "../schema/turn.ts"

/**
 * The effect actions that all machines share. They have no code, because a transition only collects which actions it
 * requests. The host then commits the effects that these actions describe, together with the new state.
 */
export const effectActions = {
  claims: (_: unknown, _list: ReadonlyArray<Claim>) => {},
  releases: (_: unknown, _list: ReadonlyArray<string>) => {},
  grants: (_: unknown, _list: ReadonlyArray<Grant>) => {},
  moves: (_: unknown, _list: ReadonlyArray<Move>) => {},
  revokes: (_: unknown, _list: ReadonlyArray<Revoke>) => {},
  ledger: (_: unknown, _list: ReadonlyArray<LedgerLine>) => {},
  uses: (_: unknown, _list: ReadonlyArray<CodeUse>) => {},
  free_ids: (_: unknown, _list: ReadonlyArray<FreeIds>) => {},
  mail: (_: unknown, _list: ReadonlyArray<Mail>) => {},
  events: (_: unknown, _list: ReadonlyArray<ChannelEvent>) => {},
  joined: (_: unknown, _list: ReadonlyArray<JoinedEvent>) => {},
}

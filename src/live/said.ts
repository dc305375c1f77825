import { Context, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { ChannelEvent } from "../../schema/turn.ts"

/** An event as this process has just committed it. */
export interface SaidEvent extends ChannelPosition {
  readonly type: string
  readonly data: unknown
}

/** Commits name each channel's events in their order, so the n-th of a channel's events has the n-th of its positions. */
export const placed = (
  positions: ReadonlyArray<ChannelPosition>,
  events: ReadonlyArray<ChannelEvent>,
): ReadonlyArray<SaidEvent> => {
  const waiting = new Map<string, Array<ChannelEvent>>()
  for (const event of events) {
    const before = waiting.get(event.channel)
    if (before === undefined) waiting.set(event.channel, [event])
    else before.push(event)
  }
  const said: Array<SaidEvent> = []
  for (const { at, channel, epoch, offset } of positions) {
    const event = waiting.get(channel)?.shift()
    if (event !== undefined) said.push({ at, channel, epoch, offset, type: event.type, data: event.data })
  }
  return said
}

/** From the commit to the hub of the same process: what is known here need not be read back. */
export class Said extends Context.Service<
  Said,
  {
    tell(events: ReadonlyArray<SaidEvent>): void
    listen(handler: (event: SaidEvent) => void): () => void
  }
>()("directory/Said") {
  static readonly layer = Layer.sync(Said, () => {
    const handlers = new Set<(event: SaidEvent) => void>()
    return Said.of({
      tell: (events) => {
        for (const event of events) for (const handler of handlers) handler(event)
      },
      listen: (handler) => {
        handlers.add(handler)
        return () => handlers.delete(handler)
      },
    })
  })
}

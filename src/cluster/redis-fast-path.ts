import { Option, Schema } from "effect"
import type { Pair } from "./pending-wakes.ts"
import type { Transport } from "./transport.ts"

const OutgoingMessage = Schema.Struct({
  from: Schema.String,
  sentAt: Schema.Finite,
  wakes: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  wakesLost: Schema.optionalKey(Schema.Literal(true)),
})
const decodeOutgoing = Schema.decodeUnknownOption(Schema.fromJsonString(OutgoingMessage))
const HEAD_BYTES = 200

export interface RedisFastPathOptions {
  readonly id: string
  readonly transport: Transport
  readonly heartbeatMs: number
  readonly onWakes: (wakes: ReadonlyArray<Pair>) => void
  readonly onGap: () => void
}

/**
 * A second transport, for wake-ups only. It may fail or hang at any time. Each process sends itself a ping through it.
 * While no ping returns in time, the process counts as deaf, and the others send its wake-ups through the database.
 */
export const openRedisFastPath = async ({
  id,
  transport,
  heartbeatMs,
  onWakes,
  onGap,
}: RedisFastPathOptions) => {
  let echoAt = Number.NEGATIVE_INFINITY

  const send = async (wakes: ReadonlyArray<Pair>, wakesLost: boolean): Promise<boolean> => {
    const message: typeof OutgoingMessage.Type = {
      from: id,
      sentAt: performance.now(),
      wakes,
      ...(wakesLost ? { wakesLost } : {}),
    }
    try {
      await transport.publish([{ payload: JSON.stringify(message) }])
      return true
    } catch {
      echoAt = Number.NEGATIVE_INFINITY
      return false
    }
  }

  const { close } = await transport.open(id, {
    onUp: onGap,
    onMessage: (payload) => {
      const message = Option.getOrUndefined(decodeOutgoing(payload))
      if (message === undefined) return
      if (message.from === id) {
        echoAt = message.sentAt
        return
      }
      onWakes(message.wakes)
      if (message.wakesLost) onGap()
    },
  })

  return {
    close,
    send,
    maxBytes: transport.maxBytes - HEAD_BYTES,
    isDeaf: () => performance.now() >= echoAt + 2 * heartbeatMs,
  }
}

import { Option, Schema } from "effect"
import type { Invalidation } from "./pending-invalidations.ts"
import type { Transport } from "./transport.ts"

const OutgoingMessage = Schema.Struct({
  from: Schema.String,
  sentAt: Schema.Finite,
  wakes: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  wakesLost: Schema.optionalKey(Schema.Literal(true)),
})
const decodeParcel = Schema.decodeUnknownOption(Schema.fromJsonString(OutgoingMessage))
const HEAD_BYTES = 200

export interface RedisFastPathOptions {
  readonly id: string
  readonly wire: Transport
  readonly heartbeatMs: number
  readonly onWakes: (wakes: ReadonlyArray<Invalidation>) => void
  readonly onGap: () => void
}

/**
 * A second wire for wake-ups only. It may refuse, hang or vanish at any time: each node pings itself through it, and a
 * node whose ping does not come back counts as deaf, so that the others reach it through the database instead.
 */
export const openRedisFastPath = async ({ id, wire, heartbeatMs, onWakes, onGap }: RedisFastPathOptions) => {
  let echoAt = Number.NEGATIVE_INFINITY

  const send = async (wakes: ReadonlyArray<Invalidation>, wakesLost: boolean): Promise<boolean> => {
    const parcel: typeof OutgoingMessage.Type = {
      from: id,
      sentAt: performance.now(),
      wakes,
      ...(wakesLost ? { wakesLost } : {}),
    }
    try {
      await wire.publish(JSON.stringify(parcel))
      return true
    } catch {
      echoAt = Number.NEGATIVE_INFINITY
      return false
    }
  }

  const { close } = await wire.open({
    onUp: onGap,
    onMessage: (payload) => {
      const parcel = Option.getOrUndefined(decodeParcel(payload))
      if (parcel === undefined) return
      if (parcel.from === id) {
        echoAt = parcel.sentAt
        return
      }
      onWakes(parcel.wakes)
      if (parcel.wakesLost) onGap()
    },
  })

  return {
    close,
    send,
    maxBytes: wire.maxBytes - HEAD_BYTES,
    isDeaf: () => performance.now() >= echoAt + 2 * heartbeatMs,
  }
}

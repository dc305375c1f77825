import { Option, Schema } from "effect"
import type { Pair } from "./pending-invalidations.ts"
import type { Wire } from "./transport.ts"

const Parcel = Schema.Struct({
  from: Schema.String,
  sentAt: Schema.Finite,
  wakes: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  wakesLost: Schema.optionalKey(Schema.Literal(true)),
})
const decodeParcel = Schema.decodeUnknownOption(Schema.fromJsonString(Parcel))
const HEAD_BYTES = 200

export interface ExpressOptions {
  readonly id: string
  readonly wire: Wire
  readonly heartbeatMs: number
  readonly onWakes: (wakes: ReadonlyArray<Pair>) => void
  readonly onGap: () => void
}

/**
 * A second wire for wake-ups only. It may refuse, hang or vanish at any time: each node pings itself through it, and a
 * node whose ping does not come back counts as deaf, so that the others reach it through the database instead.
 */
export const openExpress = async ({ id, wire, heartbeatMs, onWakes, onGap }: ExpressOptions) => {
  let echoAt = Number.NEGATIVE_INFINITY

  const send = async (wakes: ReadonlyArray<Pair>, wakesLost: boolean): Promise<boolean> => {
    const parcel: typeof Parcel.Type = {
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

import type { LiveLookupResult } from "../api-types.ts"
import { closeOnAbort } from "./channel-updates.ts"
import type { LiveConnection } from "./connection.ts"
import { truncateForLookup } from "./protocol-constants.ts"
import { UpdateQueue } from "./update-queue.ts"

/** Delay before a failed lookup is repeated. */
const lookupRetryMs = 1000
/** A subscription that exceeded the limit of the socket is requested again after this delay. */
const subscribeRetryMs = 5000

/**
 * Reports the records of an id now and after each change. Returns a function that stops the reports. `onEnd` is called
 * when no more reports follow: the connection is closed, or the service does not watch the id, for example because it
 * is not an emoji id. The last report then says why.
 */
export const watchId = (
  connection: LiveConnection,
  emojiId: string,
  onRecords: (found: LiveLookupResult) => void,
  onEnd: () => void = () => {},
  proof = false,
): (() => void) => {
  let lookups = 0
  let isRefused = false
  const lookUp = (): void => {
    const current = ++lookups
    // The result is ignored if a later lookup has started, a later state has been reported, or the reports were
    // stopped.
    const isWanted = () => current === lookups && connection.status !== "closed"
    connection.lookup([emojiId], { proof }).then(
      ([found]) => {
        if (found === undefined || !isWanted()) return
        onRecords(found)
        if (isRefused) onEnd()
      },
      // After a failure, the lookup is repeated, because the records reported before may be out of date.
      () => {
        if (connection.status === "closed") onEnd()
        else setTimeout(() => current === lookups && lookUp(), lookupRetryMs)
      },
    )
  }
  let isStopped = false
  let leave = (): void => {}
  const listen = (): void => {
    if (isStopped) return
    leave = connection.subscribe(`emoji_id:${truncateForLookup(emojiId)}`, {
      state: (state) => {
        // The subscription is shared by all listeners of the id, so its state has no proof.
        if (proof) return lookUp()
        lookups++
        onRecords({ ...(state as LiveLookupResult), emoji_id: emojiId })
      },
      event: lookUp,
      refused: (code) => {
        // If the id is invalid, the lookup reports the error. If the socket has too many subscriptions, the lookup
        // reports the current records.
        isRefused = code !== "too_many_subscriptions"
        lookUp()
        if (!isRefused) setTimeout(listen, subscribeRetryMs)
      },
      closed: onEnd,
    })
  }
  listen()
  return () => {
    isStopped = true
    lookups++
    leave()
  }
}

/** The records of an id for a `for await` loop. A slow loop gets only the newest records. */
export const recordsOf = (
  connection: LiveConnection,
  emojiId: string,
  signal: AbortSignal | undefined,
  proof = false,
  onFound: (found: LiveLookupResult) => LiveLookupResult = (found) => found,
): AsyncIterableIterator<LiveLookupResult> => {
  let stop = (): void => {}
  let stopListening = (): void => {}
  const queue = new UpdateQueue<LiveLookupResult>(() => {
    stop()
    stopListening()
  })
  if (signal?.aborted !== true)
    stop = watchId(
      connection,
      emojiId,
      (found) => queue.replace(onFound(found)),
      () => queue.close(),
      proof,
    )
  stopListening = closeOnAbort(signal, () => {
    queue.clear()
    queue.close()
  })
  return queue
}

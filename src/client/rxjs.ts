import { Observable } from "rxjs"
import type { LiveLookupResult } from "./api-types.ts"
import type { LiveChannel } from "./live/channel-state.ts"
import { type ChannelUpdate, handlersFor } from "./live/channel-updates.ts"
import type { LiveConnection } from "./live/connection.ts"
import { watchId } from "./live/watch-id.ts"

interface LiveClient {
  readonly live: LiveConnection
}

/** The state of a live channel and its later events. Errors with `ChannelRefused`, and completes when `live` is closed. */
export const channel$ = <C extends LiveChannel>(
  client: LiveClient,
  channel: C,
): Observable<ChannelUpdate<C>> =>
  new Observable((subscriber) =>
    client.live.subscribe(
      channel,
      handlersFor(channel, {
        push: (update) => subscriber.next(update),
        fail: (error) => subscriber.error(error),
        close: () => subscriber.complete(),
      }),
    ),
  )

/** The records of an emoji id, now and after each change. */
export const records$ = (client: LiveClient, emojiId: string): Observable<LiveLookupResult> =>
  new Observable((subscriber) =>
    watchId(
      client.live,
      emojiId,
      (found) => subscriber.next(found),
      () => subscriber.complete(),
    ),
  )

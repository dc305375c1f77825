import { Layer } from "effect"
import { Events } from "../turns/event-store.ts"
import { Hub, type HubOptions } from "./hub.ts"
import { retention } from "./retention.ts"
import { LiveLookups } from "./socket-lookup-store.ts"
import { LiveSessions } from "./socket-sessions.ts"

export const live = (options: HubOptions) =>
  Layer.mergeAll(LiveSessions.layer, retention).pipe(
    Layer.provideMerge(Layer.mergeAll(Hub.layer(options), LiveLookups.layer)),
    Layer.provideMerge(Events.layer),
  )

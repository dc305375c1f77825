import { Context, Layer } from "effect"
import type { PlacedEvent } from "../../actors/ports.ts"

/** Publishes an event that this process has just committed. False: the hub must read it from the database. */
export type PublishCommitted = (event: PlacedEvent) => boolean

/** Passes committed events to the hub of the same process, so that it need not read them from the database. */
export class LocalPublish extends Context.Service<
  LocalPublish,
  {
    /** True if no listener of this process has to read the event. */
    readonly publish: PublishCommitted
    listen(listener: PublishCommitted): () => void
  }
>()("directory/LocalPublish") {
  static readonly layer = Layer.sync(LocalPublish, () => {
    const listeners = new Set<PublishCommitted>()
    return LocalPublish.of({
      publish: (event) => {
        let isPublished = true
        for (const listener of listeners) if (!listener(event)) isPublished = false
        return isPublished
      },
      listen: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
  })
}

import { Context, Layer } from "effect"
import type { PlacedEvent } from "../../actors/ports.ts"

/** Shows an event this process has just committed. False: whoever listens here has to read it. */
export type Show = (event: PlacedEvent) => boolean

/** From the commit to the hub of the same process: what is known here need not be read back. */
export class LocalPublish extends Context.Service<
  LocalPublish,
  {
    /** True: nobody in this process has to read it any more. */
    readonly tell: Show
    listen(show: Show): () => void
  }
>()("directory/LocalPublish") {
  static readonly layer = Layer.sync(LocalPublish, () => {
    const listeners = new Set<Show>()
    return LocalPublish.of({
      tell: (event) => {
        let isShown = true
        for (const show of listeners) if (!show(event)) isShown = false
        return isShown
      },
      listen: (show) => {
        listeners.add(show)
        return () => listeners.delete(show)
      },
    })
  })
}

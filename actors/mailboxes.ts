import { Context, Layer } from "effect"

interface Depth {
  readonly cells: number
  readonly waiting: number
}

/** Counts the actors in memory and the turns that run or wait. The counts are published as metrics. */
export class Mailboxes extends Context.Service<
  Mailboxes,
  {
    add(entity: string, depth: () => Depth): void
    total(): Depth
  }
>()("directory/Mailboxes") {
  static readonly layer = Layer.sync(Mailboxes, () => {
    const depths = new Map<string, () => Depth>()
    return Mailboxes.of({
      add: (entity, depth) => void depths.set(entity, depth),
      total: () => {
        let cells = 0
        let waiting = 0
        for (const depth of depths.values()) {
          const now = depth()
          cells += now.cells
          waiting += now.waiting
        }
        return { cells, waiting }
      },
    })
  })
}

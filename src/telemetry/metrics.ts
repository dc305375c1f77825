import { Context, Effect, Fiber, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { connectToParent } from "./ask-parent.ts"
import { mergeWorkers } from "./merge.ts"
import { registerProcessMetrics } from "./process-metrics.ts"
import { Registry } from "./registry.ts"
import { toText } from "./text-format.ts"
import { workerUp } from "./worker-scrapes.ts"

/**
 * A scrape waits at most this long for the work registered with `before`, so that metrics are available even if the
 * database does not respond.
 */
const preparationLimit = "2 seconds"

/**
 * Returns an effect that waits for the given effect, up to the limit. The given effect runs detached, so it continues
 * after the limit. Concurrent scrapes wait for the same run.
 */
const preparation = (effect: Effect.Effect<void>): Effect.Effect<void> => {
  let running: Fiber.Fiber<void> | undefined
  const finished = Effect.sync(() => {
    running = undefined
  })
  return Effect.gen(function* () {
    running ??= yield* Effect.forkDetach(Effect.ensuring(effect, finished))
    yield* Effect.timeoutOption(Fiber.await(running), preparationLimit)
  })
}

/** The metrics of this process, and how a scrape reads them. */
export class ServiceMetrics extends Registry {
  readonly #preparations: Array<Effect.Effect<void>> = []
  #collected: Effect.Effect<string, Unavailable> = Effect.sync(() => {
    const worker = "1"
    return toText(mergeWorkers([{ worker, families: this.collect(true) }]))
  })

  /** Registers work that runs before each scrape of this process, such as a query that updates a gauge. */
  before(effect: Effect.Effect<void>): void {
    this.#preparations.push(preparation(effect))
  }

  /** Replaces the text of this process by that of all workers. */
  collectWith(collected: Effect.Effect<string, Unavailable>): void {
    this.#collected = collected
  }

  /** The response to a scrape. */
  readonly text: Effect.Effect<string, Unavailable> = Effect.suspend(() =>
    Effect.andThen(
      Effect.all(this.#preparations, { concurrency: "unbounded", discard: true }),
      this.#collected,
    ),
  )
}

/**
 * The metrics that a scrape of this service reads. Without the layer, for example in the command line, values are
 * recorded but never read.
 */
export const Metrics = Context.Reference<ServiceMetrics>("directory/Metrics", {
  defaultValue: () => new ServiceMetrics(),
})

/** Metrics of a service. `isWorker`: the parent process knows the other workers, and a scrape covers all of them. */
export const metricsLayer = ({ isWorker }: { readonly isWorker: boolean }): Layer.Layer<never> =>
  Layer.effect(
    Metrics,
    Effect.gen(function* () {
      const metrics = new ServiceMetrics()
      const stop = registerProcessMetrics(metrics)
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      if (isWorker) {
        const parent = connectToParent(metrics)
        yield* Effect.addFinalizer(() => Effect.sync(parent.disconnect))
        metrics.collectWith(parent.text)
      } else metrics.gauge(...workerUp, () => 1, { labels: { worker: "1" } })
      return metrics
    }),
  )

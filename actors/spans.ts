import { Effect } from "effect"

/**
 * Runs a part of a traced request as a span of its own. Without a traced request it only runs the effect: a span costs
 * more than most of what it would measure.
 */
export const inSpan = <A, E, R>(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.cache.span === undefined
      ? effect
      : Effect.useSpan(name, { attributes }, (span) =>
          Effect.withParentSpan(effect, span, { captureStackTrace: false }),
        ),
  )

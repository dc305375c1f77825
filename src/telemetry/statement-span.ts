import { Effect, type Fiber, type Tracer } from "effect"

/**
 * Runs a statement with its fiber, and as a span of its own if its request is traced. A statement that several requests
 * share is a span of the request that sends it.
 */
export const inStatementSpan = <A, E>(
  send: (fiber: Fiber.Fiber<unknown, unknown>, span: Tracer.Span | undefined) => Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) =>
    fiber.cache.span === undefined
      ? send(fiber, undefined)
      : Effect.useSpan(
          "postgres statement",
          { kind: "client", attributes: { "db.system.name": "postgresql" } },
          (span) => send(fiber, span),
        ),
  )

const maxTextLength = 500

/** The text of a statement without its values: what the client keeps of the template. */
export const textOf = (query: object): string =>
  "strings" in query && Array.isArray(query.strings)
    ? query.strings.join("?").replace(/\s+/g, " ").trim().slice(0, maxTextLength)
    : ""

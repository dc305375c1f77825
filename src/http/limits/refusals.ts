import type { ErrorBody, RawResponse } from "../endpoint.ts"
import type { Exchange } from "../exchange.ts"
import { makeTemplate } from "../response/template.ts"

/** How many requests are refused in one turn of the event loop. One takes about 15 µs. */
const perTurn = 64
/** The times to wait are random, so that refused clients do not all come back at the same moment. */
const waits = [1, 2, 3]
const shapes = [undefined, "lookup", "oauth", "page"] as const

/**
 * Answers refused requests, in the order of arrival, with a limited number in each turn of the event loop. If each was
 * answered at once, clients could send the next ones in the same turn: with 4000 connections, turns of 0.7 s were
 * measured. So a client that sends more than can be refused has to wait, and everyone else does not.
 */
export const makeRefusals = (
  answer: (exchange: Exchange, response: RawResponse, close: boolean, lines: string) => void,
  make: (requestId: string, seconds: number, shape: ErrorBody | undefined) => RawResponse,
) => {
  const templates = new Map(
    shapes.map((shape) => [
      shape,
      waits.map((seconds) => makeTemplate((requestId) => make(requestId, seconds, shape))),
    ]),
  )
  let waiting: Array<Exchange> = []

  const answerSome = () => {
    const now = waiting.slice(0, perTurn)
    waiting = waiting.slice(perTurn)
    if (waiting.length > 0) setImmediate(answerSome)
    for (const exchange of now) {
      const choices = templates.get(exchange.endpoint?.errorBody)!
      const { lines, response } = choices[Math.floor(Math.random() * choices.length)]!(exchange.requestId)
      answer(exchange, response, false, lines)
    }
  }

  return (exchange: Exchange): void => {
    if (waiting.push(exchange) === 1) setImmediate(answerSome)
  }
}

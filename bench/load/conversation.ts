import type { Answer, HttpTraffic } from "./http-lane.ts"

/** A request and the expected status of its response. Without a status, every response is accepted. */
export interface Line {
  readonly request: Buffer
  readonly status?: number
}

/**
 * A generator that yields requests and receives their responses. The body of a response is valid only until the next
 * request.
 */
export type Talk = Generator<Line, never, Answer>

/**
 * Returns traffic in which the next request of a connection can depend on the previous response. After an unexpected
 * or missing response, the connection starts a new conversation with `begin`.
 */
export function converse(begin: (connection: number) => Talk): HttpTraffic {
  const talks = new Map<number, { readonly talk: Talk; line: Line; isAnswered: boolean }>()
  const restart = (connection: number) => {
    const talk = begin(connection)
    const state = { talk, line: talk.next().value, isAnswered: false }
    talks.set(connection, state)
    return state
  }
  return {
    source: (connection) => {
      const known = talks.get(connection)
      const state = known?.isAnswered === true ? known : restart(connection)
      state.isAnswered = false
      return state.line.request
    },
    judge: (answer, connection) => {
      const state = talks.get(connection)
      if (state === undefined) return "unexpected"
      const { status } = state.line
      if (status !== undefined && answer.status !== status) {
        talks.delete(connection)
        return `status ${answer.status}`
      }
      try {
        state.line = state.talk.next(answer).value
        state.isAnswered = true
        return undefined
      } catch {
        talks.delete(connection)
        return "body"
      }
    },
  }
}

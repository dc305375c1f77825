import type { Answer, HttpTraffic } from "./http-lane.ts"

/** What one side says, and the status the other must answer it with; without one any answer will do. */
export interface Line {
  readonly request: Buffer
  readonly status?: number
}

/** Yields what is said and is handed the answer, whose body is only valid until the next line. */
export type Talk = Generator<Line, never, Answer>

/**
 * Each connection talks: what it says next may depend on what it was told. After an unexpected answer, or none, it begins
 * its talk anew.
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
      if (state === undefined) return "unasked"
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

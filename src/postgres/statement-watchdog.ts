/** A statement handed to the client. */
interface Statement {
  readonly since: number
  readonly query: object
  readonly giveUp: () => void
}

interface RateLimits {
  /** Longer than the server itself lets a statement run. */
  readonly deadlineMs: number
  /** A server was given a statement and has said nothing for the deadline, not even that it took too long. */
  readonly onSilence: () => void
}

const lookEveryMs = 100

/** Marked by the client (postgres 3.4.9): the server has it. Those behind it and in the queue wait. */
const isServersTurn = (query: object): boolean => "active" in query && query.active === true

/** Statements under way: all have the same time, so one look now and then serves them all. */
export const watchStatements = ({ deadlineMs, onSilence }: RateLimits) => {
  /** Oldest first. */
  const waiting = new Set<Statement>()
  /** Given up and still unanswered, with the time since which each was seen to be its server's turn. */
  const overdue = new Map<Statement, number>()

  const look = () => {
    const now = performance.now()
    const expired = now - deadlineMs
    for (const one of waiting) {
      if (one.since > expired) break
      waiting.delete(one)
      overdue.set(one, Number.POSITIVE_INFINITY)
      one.giveUp()
    }
    for (const [one, turnSince] of overdue) {
      if (!isServersTurn(one.query)) continue
      if (turnSince <= expired) {
        overdue.clear()
        return onSilence()
      }
      overdue.set(one, Math.min(turnSince, now))
    }
  }
  const timer = setInterval(look, lookEveryMs).unref()

  return {
    begun: (one: Statement): void => void waiting.add(one),
    answered: (one: Statement): void => {
      waiting.delete(one)
      overdue.delete(one)
    },
    stop: () => clearInterval(timer),
  }
}

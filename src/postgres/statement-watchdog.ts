/** A statement that was given to the client at the time `since`. */
interface Statement {
  readonly since: number
  readonly query: object
  readonly giveUp: () => void
}

interface WatchOptions {
  /**
   * The time after which a statement is given up, counted from when it was given to the client. Must be longer than
   * the server's statement_timeout.
   */
  readonly deadlineMs: number
  /** Called if a server runs a statement and sends nothing within the deadline, not even a timeout error. */
  readonly onSilence: () => void
}

const checkEveryMs = 100

/**
 * Whether this is the statement that the server runs now. The client (postgres 3.4.9) marks that statement as active;
 * later statements on the connection wait behind it.
 */
const isActive = (query: object): boolean => "active" in query && query.active === true

/**
 * Watches statements that have no result yet, and gives up those that take longer than the time limit. The limit is the
 * same for all statements, so one interval checks them all.
 */
export const watchStatements = ({ deadlineMs, onSilence }: WatchOptions) => {
  /** Statements before their deadline, oldest first. */
  const waiting = new Set<Statement>()
  /**
   * Statements after their deadline, with the time when each was first seen to be active; Infinity if it was never
   * seen active.
   */
  const overdue = new Map<Statement, number>()

  const check = () => {
    const now = performance.now()
    const expired = now - deadlineMs
    for (const one of waiting) {
      if (one.since > expired) break
      waiting.delete(one)
      overdue.set(one, Number.POSITIVE_INFINITY)
      one.giveUp()
    }
    for (const [one, activeSince] of overdue) {
      if (!isActive(one.query)) continue
      if (activeSince <= expired) {
        overdue.clear()
        return onSilence()
      }
      overdue.set(one, Math.min(activeSince, now))
    }
  }
  const timer = setInterval(check, checkEveryMs).unref()

  return {
    begun: (one: Statement): void => void waiting.add(one),
    answered: (one: Statement): void => {
      waiting.delete(one)
      overdue.delete(one)
    },
    stop: () => clearInterval(timer),
  }
}

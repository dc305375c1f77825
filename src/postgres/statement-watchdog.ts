/** A statement that was given to the client. */
interface Statement {
  readonly since: number
  readonly query: object
  readonly giveUp: () => void
}

interface WatchOptions {
  /** Longer than the server's statement_timeout. */
  readonly deadlineMs: number
  /** Called if a server has a statement and sends nothing within the deadline, not even a timeout error. */
  readonly onSilence: () => void
}

const checkEveryMs = 100

/** Whether the server runs this statement. The client (postgres 3.4.9) marks it; later statements wait in its queue. */
const isActive = (query: object): boolean => "active" in query && query.active === true

/** Watches running statements. All have the same deadline, so one interval checks them all. */
export const watchStatements = ({ deadlineMs, onSilence }: WatchOptions) => {
  /** Oldest first. */
  const waiting = new Set<Statement>()
  /** Statements past their deadline, with the time since which each was seen to be active. */
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

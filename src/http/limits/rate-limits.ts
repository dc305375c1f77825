import { Context, Effect, Layer } from "effect"
import { TooManyRequests, type Unavailable } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { RateHeaders } from "../guards.ts"
import type { LimitName } from "../route.ts"
import { type Budget, budgets, type LocalLimit, localBudgets, type Subject } from "./budgets.ts"
import { makeLocalWindows } from "./local-windows.ts"
import { type Counted, makeRateWindowStore } from "./rate-window-store.ts"

type Subjects = Partial<Record<Subject, string>>

/**
 * A caller may add this many bytes of stored responses within this many seconds. A busy caller needs a tenth of that.
 * At this rate it takes days to fill a disk.
 */
const storageBudget = { bytes: 64 * 1024 * 1024, seconds: 3600 }

const headersOf = (budget: Budget, { resetsInSeconds, used }: Counted): RateHeaders => ({
  "RateLimit-Limit": String(budget.requests),
  "RateLimit-Remaining": String(Math.max(0, budget.requests - used)),
  "RateLimit-Reset": String(resetsInSeconds),
})

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /**
     * Counts the request against each subject. Fails if one of them exceeds its budget. Otherwise returns the rate
     * limit headers of the subject with the fewest requests left; without any budget, no headers.
     */
    take(name: LimitName, subjects: Subjects): Effect.Effect<RateHeaders, TooManyRequests | Unavailable>
    /**
     * Counts a request against a local limit. Returns undefined if it is within the budget, otherwise after how many
     * seconds to retry.
     */
    exceeds(name: LocalLimit, subject: Subject, value: string): number | undefined
    /** Counts bytes of stored responses for a caller. Fails if the caller's quota is used up. Runs no query. */
    keep(caller: string, bytes: number): Effect.Effect<void, TooManyRequests>
    /** Removes the counts of these subjects, for example after a successful authentication. */
    forgive(name: LimitName, subjects: Subjects): Effect.Effect<void, Unavailable>
    /** Takes one request back from the counts of these subjects. */
    giveBack(name: LimitName, subjects: Subjects): Effect.Effect<void, Unavailable>
  }
>()("directory/RateLimits") {
  static readonly layer = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const windows = yield* makeRateWindowStore
      const local = makeLocalWindows()
      if (config.rateLimit === "off") {
        return RateLimits.of({
          take: () => Effect.succeed({}),
          exceeds: () => undefined,
          keep: () => Effect.void,
          forgive: () => Effect.void,
          giveBack: () => Effect.void,
        })
      }

      const count = (shared: boolean, keys: ReadonlyArray<string>, seconds: ReadonlyArray<number>) =>
        shared
          ? windows.take(keys, seconds)
          : Effect.sync(() => keys.map((key, i) => local.take(key, seconds[i] ?? 60)))

      const keysOf = (name: LimitName, subjects: Subjects) =>
        Object.entries(subjects).map(([subject, value]) => `${name}/${subject}/${value}`)

      const take = Effect.fnUntraced(function* (name: LimitName, subjects: Subjects) {
        const { shared, ...bySubject } = budgets[name]
        const wanted = new Map<string, Budget>()
        for (const [subject, value] of Object.entries(subjects)) {
          const budget = bySubject[subject as Subject]
          if (budget !== undefined && value !== "") wanted.set(`${name}/${subject}/${value}`, budget)
        }
        if (wanted.size === 0) return {}
        const counted = yield* count(
          shared,
          [...wanted.keys()],
          [...wanted.values()].map(({ seconds }) => seconds),
        )
        let tightest: { readonly budget: Budget; readonly counted: Counted } | undefined
        const left = (budget: Budget, { used }: Counted) => budget.requests - used
        for (const one of counted) {
          const budget = wanted.get(one.key)
          if (budget === undefined) continue
          if (tightest === undefined || left(budget, one) < left(tightest.budget, tightest.counted)) {
            tightest = { budget, counted: one }
          }
        }
        if (tightest === undefined) return {}
        const headers = headersOf(tightest.budget, tightest.counted)
        if (left(tightest.budget, tightest.counted) >= 0) return headers
        const retryAfterSeconds = Math.max(1, tightest.counted.resetsInSeconds)
        return yield* new TooManyRequests({ retryAfterSeconds, headers })
      })

      const ofLimit = localBudgets(config.coldLookupsPerMinute)

      return RateLimits.of({
        take,
        exceeds: (name, subject, value) => {
          const budget = ofLimit[name][subject]
          if (budget === undefined) return undefined
          const { resetsInSeconds, used } = local.take(`${name}/${subject}/${value}`, budget.seconds)
          return used <= budget.requests ? undefined : Math.max(1, resetsInSeconds)
        },
        keep: (caller, bytes) =>
          Effect.suspend(() => {
            const { resetsInSeconds, used } = local.take(`keep/${caller}`, storageBudget.seconds, bytes)
            return used < storageBudget.bytes
              ? Effect.void
              : Effect.fail(
                  new TooManyRequests({
                    error:
                      "Idempotency storage quota exceeded. Retry later, or send the request without a key.",
                    retryAfterSeconds: Math.max(1, resetsInSeconds),
                  }),
                )
          }),
        forgive: (name, subjects) => windows.remove(keysOf(name, subjects)),
        giveBack: (name, subjects) => windows.giveBack(keysOf(name, subjects)),
      })
    }),
  )
}

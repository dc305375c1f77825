import { Context, Effect, Layer } from "effect"
import { TooManyRequests, type Unavailable } from "../../schema/errors.ts"
import type { Client } from "../postgres/client.ts"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

/**
 * How many wrong codes a user may enter within 24 hours: for transfers of one id, and for all transfers. Each code also
 * has its own limit (`maxWrongTries`), but a new transfer or a resent code starts that limit again. With these limits,
 * a thief with a session or an API key guesses a code of six digits with a chance of 1 to 50,000 per day.
 */
export const maxWrongPerId = 10
export const maxWrongPerUser = 20
const windowHours = 24

/** The result of `takeAttempt`. */
export interface TakenAttempt {
  /** Which limit is used up, or null if the attempt was counted. */
  readonly limit: "id" | "user" | null
  readonly wait_seconds: number
  readonly free_at: string | null
}

const usedUp = ({ free_at, limit, wait_seconds }: TakenAttempt) => {
  const scope = limit === "id" ? "for transfers of this emoji id" : "for your transfers"
  const most = limit === "id" ? maxWrongPerId : maxWrongPerUser
  return new TooManyRequests({
    error: `${most} wrong codes were entered ${scope} within ${windowHours} hours. Try again after ${free_at}.`,
    retryAfterSeconds: Math.max(1, Math.ceil(wait_seconds)),
  })
}

/**
 * The call that counts an attempt to enter a code. It must be committed before the code is compared. A call with the
 * same attempt counts once. The attempts of a user are counted across transfers, credentials and processes. Only the
 * party that may enter a code is counted, so another user cannot use up the attempts.
 */
export const takeAttempt = (q: Client, attempt: string | null, userId: string, eid: string) =>
  q`take_transfer_attempt(${attempt}::uuid, ${userId}, ${eid}, ${maxWrongPerId}, ${maxWrongPerUser},
                          make_interval(hours => ${windowHours}))`

/** Fails if the attempt was not counted, because the user has entered too many wrong codes. */
export const checkTaken = (taken: TakenAttempt | null) =>
  taken === null || taken.limit === null ? Effect.void : Effect.fail(usedUp(taken))

export class CodeAttempts extends Context.Service<
  CodeAttempts,
  {
    /**
     * Removes an attempt from the count, because its code was correct, although the turn of the code was refused. A
     * turn that is committed does this itself, with the effect `right_codes`.
     */
    giveBack(attempt: string): Effect.Effect<void, Unavailable>
  }
>()("directory/CodeAttempts") {
  static readonly layer = Layer.effect(
    CodeAttempts,
    Effect.gen(function* () {
      const sql = yield* Sql
      return CodeAttempts.of({
        giveBack: (attempt) =>
          sql.rows((q) => q`delete from wrong_transfer_code where id = ${attempt}`).pipe(Effect.asVoid),
      })
    }),
  )
}

export const oldWrongTransferCodes: ExpiredRows = {
  table: "wrong_transfer_code",
  time: (q) => q`at`,
  isExpired: (q) => q`at < now() - make_interval(hours => ${2 * windowHours})`,
}

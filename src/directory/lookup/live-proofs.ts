import { Effect, Layer } from "effect"
import { Unavailable } from "../../../schema/errors.ts"
import type { LookupResult } from "../../../schema/live-frames.ts"
import { answerHash } from "../../../schema/proofs/claims.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { LiveProofs } from "../../live/channel-states.ts"
import { SignedAnswers, type Subject } from "./signed-answers.ts"

const unavailable = (error: string) => new Unavailable({ error, retryAfterSeconds: 1 })

const subjectOf = (canonical: string, answer: LookupResult): Subject => ({
  canonical,
  version: answer.version,
  records: answer.result,
  request: ["live"],
  answer,
  name: "/live",
  mark: answerHash(answer),
  isOf: ({ pubkey, version }) => version === answer.version && pubkey === answer.pubkey,
})

/** Signs live results with the same keys and limits as the answers over HTTP. */
export const liveProofs = Layer.effect(
  LiveProofs,
  Effect.gen(function* () {
    const limits = yield* RateLimits
    const signed = yield* SignedAnswers

    const prove = (answer: LookupResult, admit: Effect.Effect<void, Unavailable>) => {
      const { canonical, status } = answer
      if (canonical === null) return Effect.succeed(answer)
      const proof = status ? signed.prove(subjectOf(canonical, answer), admit) : signed.deny(canonical, admit)
      return Effect.map(proof, (text): LookupResult => ({ ...answer, proof: text }))
    }

    return LiveProofs.of({
      add: (results, address) => {
        const admit = Effect.suspend(() =>
          limits.exceeds("lookup", "address", address) === undefined
            ? Effect.void
            : Effect.fail(unavailable("Too many proofs must be signed. Retry later.")),
        )
        return Effect.forEach(results, (answer) => prove(answer, admit)).pipe(
          Effect.catchTag("Changed", () =>
            Effect.fail(unavailable("An emoji id was changed by another request. Retry later.")),
          ),
        )
      },
    })
  }),
)

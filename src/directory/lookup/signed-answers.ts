import { Context, Data, Effect, Exit, Layer } from "effect"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import type { DirectoryRecord } from "../../../schema/directory/records/record.ts"
import { Unavailable } from "../../../schema/errors.ts"
import { answerHash, type ProvenRequest } from "../../../schema/proofs/claims.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { Precomputed } from "../../http/endpoint.ts"
import { pubkeySigned } from "../../keys/pubkeys.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import { Proofs } from "../../proofs/proofs.ts"
import { merkleRoot } from "../merkle.ts"
import { etagOf, type LookupAnswer } from "./answer.ts"
import type { CachedAnswer } from "./cached-answer.ts"
import { makeReadOwners, type OwnerFacts } from "./owner-store.ts"
import { PendingLoads } from "./pending-loads.ts"
import { SlabStorage } from "./slab-storage.ts"

/** An answer about a registered id that gets a proof. */
export interface Subject {
  readonly canonical: string
  readonly version: number
  /** All records of the id. */
  readonly records: ReadonlyArray<Pick<DirectoryRecord, "hash">>
  readonly request: ProvenRequest
  readonly answer: object
  /** Identifies the request in the cache, for example by its query string. */
  readonly name: string
  /** Identifies the answer in the cache. The stored proof of an answer with another mark is not used. */
  readonly mark: string
  /** Whether the answer was made from the version that has this owner. */
  readonly isOf: (owner: OwnerFacts) => boolean
}

/**
 * The subject of an HTTP answer. The warning about a new owner ends with time and not with a new version. While an answer may
 * have it, its mark has its hash, so that only the handler uses the stored proof.
 */
export const httpSubject = (
  canonical: string,
  lookup: LookupAnswer,
  { owner_changed_at, result, version }: LookupResponse,
  { answer, name, request }: Pick<Subject, "answer" | "name" | "request">,
): Subject => ({
  canonical,
  version,
  records: result,
  request,
  answer,
  name,
  mark: owner_changed_at === undefined ? lookup.own : `${lookup.own} ${answerHash(answer)}`,
  isOf: (owner) => etagOf(lookup.own).startsWith(`W/"${owner.tokenId}-${owner.version}-`),
})

/** The id was changed after its answer was read. The caller reads it again. */
export class Changed extends Data.TaggedError("Changed") {}

/** Repeats a signed lookup if the id was changed while it ran. */
export const retryChanged = <A, E, R>(lookup: Effect.Effect<A, E | Changed, R>) =>
  lookup.pipe(
    Effect.retry({ times: 3, while: (error) => error instanceof Changed }),
    Effect.catchIf(
      (error): error is Extract<E | Changed, Changed> => error instanceof Changed,
      () =>
        new Unavailable({
          error: "The emoji id was changed by other requests. Retry later.",
          retryAfterSeconds: 1,
        }),
    ),
  )

const maxKeysPerStatement = 500
const maxStatements = 2
const maxWaitingKeys = 20_000

const largestShared = 16 * 1024

/** The memory of the answers up to this size. Each overwrites the one before, which has been written by then. */
const shared = Buffer.alloc(largestShared)
/** The first bytes of this memory, by their number. They are kept to avoid a new view for each response. */
const views: Array<Uint8Array | undefined> = []

/** Returns the bytes of an answer without its last brace, and then the proof. */
const joined = (answer: Uint8Array | string, proof: CachedAnswer): Uint8Array => {
  const body = typeof answer === "string" ? Buffer.from(answer) : answer
  const kept = body.length - 1
  const total = kept + proof.bodyBytes
  const bytes = total > largestShared ? Buffer.allocUnsafe(total) : shared
  bytes.set(body)
  proof.copyBody(bytes, kept)
  if (bytes !== shared) return bytes
  views[total] ??= shared.subarray(0, total)
  return views[total]
}

/** An answer with its proof. A proof expires without a new version of the id, so the response has no ETag. */
class ProvenAnswer implements Precomputed {
  readonly head: Precomputed["head"]
  readonly body: Uint8Array

  constructor(response: Precomputed, proof: CachedAnswer) {
    this.head = response.head
    this.body = joined(response.body, proof)
  }
  copyOwn(_into: Uint8Array, at: number): number {
    return at
  }
}

const keyOf = (canonical: string, name: string): string => `${encodeURIComponent(canonical)}${name}`

/**
 * Proofs of lookup answers. A proof is signed when it is requested for the first time, and kept as bytes until half of its
 * life or until the id changes. It belongs to one answer, whose ETag is stored with it.
 */
export class SignedAnswers extends Context.Service<
  SignedAnswers,
  {
    /**
     * Adds the stored proof to a cached response. Undefined if there is none; the handler then signs. `spelling` is the id as it was
     * requested. A lookup of all records has an empty name, so that its proof is found by the usual spelling of the id.
     */
    readonly prepared: (
      answer: CachedAnswer,
      name: string,
      response: Precomputed,
      spelling: string,
    ) => Precomputed | undefined
    /** Returns the proof of an answer. `admit` runs first if it must be signed. */
    prove<E, R>(
      subject: Subject,
      admit: Effect.Effect<void, E, R>,
    ): Effect.Effect<string, E | Changed | Unavailable, R>
    /** Returns the proof that an id is not registered. `admit` always runs first. */
    deny<E, R>(canonical: string, admit: Effect.Effect<void, E, R>): Effect.Effect<string, E | Unavailable, R>
  }
>()("directory/SignedAnswers") {
  static readonly layer = Layer.effect(
    SignedAnswers,
    Effect.gen(function* () {
      const { lookupCacheMb } = yield* AppConfig
      const clock = yield* DatabaseClock
      const proofs = yield* Proofs
      const readOwners = yield* makeReadOwners
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const startMs = clock.now()
      const secondsOf = (timeMs: number): number => Math.floor((timeMs - startMs) / 1000)

      /** Made at the first proof, because many services need none. */
      let stored: SlabStorage | undefined
      const storage = () => {
        stored ??= new SlabStorage({ maxBytes: lookupCacheMb * 1024 * 1024, onRemoved: () => {} })
        return stored
      }
      proofs.onRetired(() => stored?.clear())
      const owners = new PendingLoads<OwnerFacts>({
        read: (keys, done) =>
          void fork(readOwners(keys)).addObserver((exit) =>
            done(
              Exit.isSuccess(exit)
                ? exit.value
                : new Unavailable({
                    error: "The directory is temporarily unavailable. Retry later.",
                    retryAfterSeconds: 1,
                  }),
            ),
          ),
        store: () => {},
        mayJoin: () => false,
        maxKeysPerStatement,
        maxStatements,
        maxWaitingKeys,
      })
      const readOwner = (canonical: string) =>
        Effect.callback<OwnerFacts | undefined, Unavailable>((resume) =>
          owners.want(canonical, (outcome) =>
            resume(outcome instanceof Unavailable ? Effect.fail(outcome) : Effect.succeed(outcome)),
          ),
        )

      const findFresh = (key: string): CachedAnswer | undefined => {
        const proof = stored?.find(key)
        if (proof === undefined || proof.freshUntil <= secondsOf(clock.now())) return undefined
        proof.wasUsed = true
        return proof
      }

      return SignedAnswers.of({
        prepared: (answer, name, response, spelling) => {
          if (stored === undefined) return undefined
          const proof = (name === "" ? findFresh(spelling) : undefined) ?? findFresh(`${answer.key}${name}`)
          return proof?.hasOwnOf(answer) ? new ProvenAnswer(response, proof) : undefined
        },

        prove: Effect.fnUntraced(function* (subject, admit) {
          const { answer, canonical, mark, request, version } = subject
          const key = keyOf(canonical, subject.name)
          const known = findFresh(key)
          if (known?.own === mark) return JSON.parse(`{${known.toText().body.slice(1)}`).proof
          yield* admit
          const owner = yield* readOwner(canonical)
          if (owner === undefined || !subject.isOf(owner)) return yield* new Changed()
          const root = merkleRoot(subject.records.map(({ hash }) => hash))
          const { pubkey, signature } = owner
          const isSigned =
            pubkey !== null && signature !== null && pubkeySigned(pubkey, Buffer.from(root, "hex"), signature)
          const proof = yield* proofs.sign({
            emoji_id: canonical,
            registered: true,
            version,
            records_root: root,
            owner: pubkey,
            ...(isSigned && { owner_signature: signature }),
            request,
            answer: answerHash(answer),
          })
          const kept = storage().put(key, mark, `,"proof":"${proof.jws}"}`)
          if (kept !== undefined) kept.freshUntil = secondsOf(proof.renewAtMs)
          return proof.jws
        }),

        deny: (canonical, admit) => Effect.andThen(admit, proofs.deny(canonical)),
      })
    }),
  )
}

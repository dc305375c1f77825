import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Luck } from "../../../fixtures/walk.ts"
import type { Member } from "../fleet/member.ts"
import type { Attempt, OperationLog } from "../operation-log.ts"
import type { Violations } from "../violations.ts"

const timeoutMs = 20_000
const patienceMs = 90_000
const replayShare = 0.15

// biome-ignore lint/suspicious/noExplicitAny: the workload reads responses of every shape
export type Body = any

export interface Answer {
  readonly status: number
  readonly body: Body
  readonly text: string
  readonly headers: Headers
}

export interface Request {
  /** The name of the operation in the log. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** A form, for pages. It has no Idempotency-Key. */
  readonly form?: Readonly<Record<string, string>>
  /** Read for each attempt, because tokens are renewed. */
  readonly token?: () => string
  readonly headers?: Readonly<Record<string, string>>
  /** Refusals that are possible although the request is correct, for example of a contested id. */
  readonly mayAnswer?: ReadonlyArray<number>
  /** Whether the request has a key. Default: every request that is not a GET or a form. */
  readonly keyed?: boolean
}

export interface Result extends Answer {
  readonly outcome: "ok" | "failed"
  /** When the attempt with the final answer was started. */
  readonly startedAt: number
}

const isRunning = ({ body, status }: Answer): boolean =>
  status === 409 && String(body?.error ?? "").includes("still running")
/** Whether the answer says nothing about the operation, so that a client repeats it. */
export const mustRetry = (answer: Answer): boolean =>
  answer.status >= 500 || answer.status === 429 || isRunning(answer)

const parse = (text: string): Body => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An operation without a final answer. The oracle repeats it after the run. */
export interface Unresolved {
  readonly user: string
  readonly request: Request
  readonly key: string
}

export class NoAnswer extends Error {}

/** Sends requests as a real client does: after an error it repeats the request with the same key at another process. */
export class Api {
  readonly members: ReadonlyArray<Member>
  readonly log: OperationLog
  readonly violations: Violations
  readonly seed: number
  readonly unresolved: Array<Unresolved> = []
  /** Set at the end of the run: requests that have no answer yet are given up. */
  isOver = false

  constructor(seed: number, members: ReadonlyArray<Member>, log: OperationLog, violations: Violations) {
    this.seed = seed
    this.members = members
    this.log = log
    this.violations = violations
  }

  /** Sends a request once. Throws if there is no response. */
  async once(member: Member, request: Request, key?: string, withinMs = timeoutMs): Promise<Answer> {
    const { body, form, headers, method, path, token } = request
    const response = await fetch(`${member.url}${path}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(withinMs),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token()}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }

  /** Performs an operation until it has an answer. Throws `NoAnswer` if it has none; then it is `unknown`. */
  async perform(user: string, luck: Luck, request: Request): Promise<Result> {
    const { form, method, name } = request
    const isKeyed = request.keyed ?? (method !== "GET" && form === undefined)
    const key = isKeyed ? `${name}-${randomUUID()}` : undefined
    const first = luck.below(this.members.length)
    const isReplayed = luck.chance(replayShare)
    const attempts: Array<Attempt> = []
    const logged = {
      seed: this.seed,
      user,
      operation: name,
      method,
      path: request.path,
      ...(key === undefined ? {} : { key }),
      ...(request.body === undefined ? {} : { body: request.body }),
      attempts,
    }
    const until = performance.now() + patienceMs
    for (let turn = 0; performance.now() < until && !(this.isOver && turn > 0); turn++) {
      const member = this.members[(first + turn) % this.members.length]!
      const answer = await this.#attempt(member, request, key, attempts)
      if (answer !== undefined && !mustRetry(answer)) {
        const outcome = answer.status < 400 ? "ok" : "failed"
        this.log.add({ ...logged, outcome, answer: { status: answer.status, body: answer.body } })
        this.#judge(user, request, key, answer, attempts)
        if (key !== undefined && isReplayed)
          await this.#replay(
            user,
            this.members[(first + turn + 1) % this.members.length]!,
            request,
            key,
            answer,
          )
        return { ...answer, outcome, startedAt: attempts.at(-1)!.startedAt }
      }
      await sleep(Math.min(2000, 50 * 2 ** turn))
    }
    this.log.add({ ...logged, outcome: "unknown" })
    if (key !== undefined) this.unresolved.push({ user, request, key })
    throw new NoAnswer(name)
  }

  async #attempt(member: Member, request: Request, key: string | undefined, attempts: Array<Attempt>) {
    const startedAt = performance.now()
    const put = (answer: number | string, error?: string) =>
      attempts.push({
        process: member.name,
        startedAt,
        endedAt: performance.now(),
        answer,
        ...(error === undefined ? {} : { error }),
      })
    try {
      const answer = await this.once(member, request, key)
      put(answer.status, answer.status < 400 ? undefined : String(answer.body?.error ?? "").slice(0, 120))
      return answer
    } catch (error) {
      put(kindOf(error))
      return undefined
    }
  }

  /** A correct request must not be refused because an earlier attempt was applied or was lost. */
  #judge(
    user: string,
    request: Request,
    key: string | undefined,
    answer: Answer,
    attempts: ReadonlyArray<Attempt>,
  ) {
    const isExpected = answer.status < 400 || (request.mayAnswer ?? []).includes(answer.status)
    if (key === undefined && isExpected) return
    const way = () => attempts.map(({ answer, process }) => `${process}: ${answer}`).join(", ")
    this.violations.check(
      5,
      isExpected,
      () =>
        `${request.name} of ${user}: ${request.method} ${request.path} answered ${answer.status} (${way()}): ${answer.text.slice(0, 160)}`,
      attempts[0]?.startedAt,
    )
  }

  /** Repeats an answered operation at another process. Its answer must be the same. */
  async #replay(user: string, member: Member, request: Request, key: string, before: Answer) {
    const again = await this.once(member, request, key).catch(() => undefined)
    if (again === undefined || mustRetry(again) || again.status === 401) return
    this.violations.check(
      5,
      again.status === before.status && again.text === before.text,
      () =>
        `${request.name} of ${user}: repeated with its key at ${member.name}, ${before.status} ${before.text.slice(0, 120)} became ${again.status} ${again.text.slice(0, 120)}`,
    )
  }
}

const kindOf = (error: unknown): string => {
  const { cause, name } = error as Error & { readonly cause?: { readonly code?: string } }
  return name === "TimeoutError" ? "timeout" : (cause?.code ?? name)
}

import { emojis } from "../../../schema/directory/emoji.ts"
import { anonymous, type Caller, type Draft, methodOf } from "./draft.ts"
import type { Answer, Lane } from "./lane.ts"
import { isSuccess, operations } from "./operations.ts"
import { mutated } from "./random-request.ts"

/** A registered user with a confirmed email. */
export interface Person extends Caller {
  readonly id: string
  readonly email: string
  readonly token: string
  readonly refresh: string
}

export interface Parts {
  readonly as?: Caller
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
  readonly rawBody?: Uint8Array
  readonly lines?: ReadonlyArray<string>
}

/** Ends a journey whose request was not successful. While mutated requests are sent too, this is expected. */
export class JourneyStopped extends Error {}

export const password = "correct horse battery staple"

/** Access tokens live 15 minutes. */
const rootLoginMs = 5 * 60_000

export const bearer = (name: string, token: string): Caller => ({
  name,
  headers: { authorization: `Bearer ${token}` },
})

export const claimsOf = (jwt: string): { readonly sub: string } =>
  JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString())

/** What a journey needs: a client of the operations by their ids, new users, and the mail of the developer outbox. */
export class World {
  readonly lane: Lane
  /** Whether mutated requests precede each request of a journey. */
  mutates = false
  #root: { readonly caller: Caller; readonly since: number } | undefined

  constructor(lane: Lane) {
    this.lane = lane
  }

  /** A text that no other request of this run has used. */
  unique(prefix: string): string {
    const { luck } = this.lane
    return `${prefix}-${luck.below(2 ** 31).toString(36)}${luck.below(2 ** 31).toString(36)}`
  }

  freshId(length = 5): string {
    return Array.from({ length }, () => this.lane.luck.pick(emojis)!.canonical).join("")
  }

  draft(operation: string, parts: Parts = {}): Draft {
    const { row } = operations.get(operation)!
    const { as = anonymous, headers = {}, params = {}, query = {}, ...body } = parts
    return { row, caller: as, method: methodOf(row), params, query: Object.entries(query), headers, ...body }
  }

  /** Calls an operation and returns any response. Before it, mutated requests may be sent in the same state. */
  async attempt(operation: string, parts: Parts = {}): Promise<Answer> {
    const draft = this.draft(operation, parts)
    const { luck } = this.lane
    if (this.mutates) {
      for (let n = luck.below(4); n > 0; n--) {
        const mutant = mutated(draft, luck)
        await this.lane.send(luck.chance(0.3) ? { ...mutant, caller: this.lane.anyCaller() } : mutant)
      }
    }
    return this.lane.send(draft)
  }

  /** Calls an operation that must succeed. */
  async call(operation: string, parts: Parts = {}): Promise<Answer> {
    const answer = await this.attempt(operation, parts)
    if (isSuccess(answer.status)) return answer
    const why = `${answer.status} ${answer.text.slice(0, 200)}`
    this.lane.tally.refused(operation, why)
    throw new JourneyStopped(`${operation}: ${why}`)
  }

  async mails(to: string): Promise<ReadonlyArray<{ kind: string; code?: string; link?: string }>> {
    return (await this.call("devOutbox", { query: { to } })).json
  }

  async code(to: string): Promise<string> {
    return (await this.mails(to)).find(({ code }) => code !== undefined)?.code ?? ""
  }

  async link(to: string): Promise<URL> {
    const mail = (await this.mails(to)).find(({ link }) => link !== undefined)
    return new URL(mail?.link ?? "http://none/")
  }

  person(name: string, email: string, tokens: { access_token: string; refresh_token: string }): Person {
    const { access_token: token, refresh_token: refresh } = tokens
    const person = { ...bearer(name, token), id: claimsOf(token).sub, email, token, refresh }
    this.lane.admit(person)
    return person
  }

  /** Registers a user and confirms the email with the mailed link. */
  async user(name = "user", facts: Readonly<Record<string, unknown>> = {}): Promise<Person> {
    const email = `${this.unique("fuzz")}@example.com`
    const { json } = await this.call("createUser", { json: { email, ...facts } })
    const token = (await this.link(email)).searchParams.get("refresh_token") ?? ""
    const as = bearer(name, json.access_token)
    const confirmed = await this.call("consumeMagicLink", { as, json: { token } })
    return this.person(name, email, confirmed.json)
  }

  /** The configured administrator, whom no other administrator may change. Only journeys use this login. */
  async root(): Promise<Caller> {
    if (this.#root === undefined || performance.now() - this.#root.since > rootLoginMs) {
      const { json } = await this.call("login", { json: this.lane.target.admin })
      this.#root = { caller: bearer("root", json.access_token), since: performance.now() }
    }
    return this.#root.caller
  }

  async admin(): Promise<Person> {
    const user = await this.user("admin")
    await this.call("updateUserByAdmin", {
      as: await this.root(),
      params: { id: user.id },
      json: { role: "Admin" },
    })
    return user
  }

  /** Registers a new emoji id for a user. */
  async owned(owner: Person, id = this.freshId()): Promise<string> {
    await this.call("registerEmojiID", { as: await this.root(), json: { emoji_id: id, user_id: owner.id } })
    return id
  }
}

import { setTimeout as sleep } from "node:timers/promises"
import type { Luck } from "../../../fixtures/walk.ts"
import type { Member } from "../fleet/member.ts"
import type { Api, Body } from "../workload/api.ts"

const pauseMs = 12
const timeoutMs = 25_000
const textTag = "0x5001"

/** What is known of an id: the highest value that a write acknowledged or a lookup returned. */
interface Known {
  value: number
  version: number
  source: string
}

/**
 * Invariant 12. Each watched id has one writer, which writes the values 1, 2, 3 and so on. A lookup must not return
 * less than what any process returned, or acknowledged, before the lookup began.
 */
export class VersionWatch {
  readonly #api: Api
  readonly #known = new Map<string, Known>()

  constructor(api: Api) {
    this.#api = api
  }

  watch(id: string): void {
    this.#known.set(id, { value: 0, version: 0, source: "the start" })
  }

  acknowledged(id: string, value: number, source: string): void {
    const known = this.#known.get(id)
    if (known !== undefined && value > known.value) Object.assign(known, { value, source })
  }

  /** Looks an id up at a process and compares the answer with everything that was known before. */
  async lookup(member: Member, id: string): Promise<void> {
    const known = this.#known.get(id)!
    const before = { ...known }
    const startedAt = performance.now()
    const path = `/emoji_id/${encodeURIComponent(id)}`
    const answer = await this.#api
      .once(member, { name: "lookup", method: "GET", path }, undefined, timeoutMs)
      .catch(() => undefined)
    if (answer === undefined || answer.status >= 500) {
      this.#api.log.count(`lookup ${answer?.status ?? "without an answer"}`)
      return
    }
    this.#api.log.lookups++
    const { version = 0 } = answer.body ?? {}
    const value = valueIn(answer.body)
    const holds = answer.status === 200 && value >= before.value && version >= before.version
    this.#api.violations.check(12, holds, () => {
      const lasted = Math.round(performance.now() - startedAt)
      const shown = answer.status === 200 ? `value ${value}, version ${version}` : `status ${answer.status}`
      return `GET ${path} at ${member.name} returned ${shown} after ${before.source} had shown value ${before.value}, version ${before.version} (the lookup took ${lasted} ms)`
    })
    if (value > known.value) Object.assign(known, { value, source: `a lookup at ${member.name}` })
    known.version = Math.max(known.version, version)
  }

  /** Looks ids up at all processes until `isOver`. */
  async read(luck: Luck, isOver: () => boolean): Promise<void> {
    const ids = [...this.#known.keys()]
    while (!isOver()) {
      const member = luck.pick(this.#api.members)!
      await this.lookup(member, luck.pick(ids)!)
      await sleep(pauseMs)
    }
  }
}

export const valueIn = (body: Body): number =>
  Math.max(
    0,
    ...((body?.result ?? []) as ReadonlyArray<{ tag: string; data: string }>)
      .filter(({ tag }) => tag === textTag)
      .map(({ data }) => Number(data.split(" ").at(-1))),
  )

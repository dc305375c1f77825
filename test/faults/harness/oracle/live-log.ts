import type postgres from "postgres"
import type { Violations } from "../violations.ts"
import type { Body } from "../workload/api.ts"

interface Position {
  readonly epoch: string
  offset: number
}

/** Invariant 11: what one live client received, by channel. */
export class LiveLog {
  readonly channels: ReadonlyArray<string>
  readonly #violations: Violations
  readonly #positions = new Map<string, Position>()
  readonly #asked = new Map<string, Position>()
  readonly #events: Array<{ channel: string; epoch: string; offset: number; type: string }> = []

  constructor(violations: Violations, channels: ReadonlyArray<string>) {
    this.#violations = violations
    this.channels = channels
  }

  /** The position from which the client resumes the channel. */
  asksFor(channel: string): Partial<Position> {
    const position = this.#positions.get(channel)
    if (position === undefined) {
      this.#asked.delete(channel)
      return {}
    }
    this.#asked.set(channel, { ...position })
    return position
  }

  hear(process: string, frame: Body): void {
    if (frame.type === "subscribed") this.#subscribed(process, frame)
    if (frame.type === "event") this.#event(process, frame)
  }

  #subscribed(process: string, { channel, epoch, offset, recovered, requested }: Body): void {
    const name: string = requested ?? channel
    const asked = this.#asked.get(name)
    if (recovered)
      this.#violations.check(
        11,
        asked !== undefined && asked.epoch === epoch && asked.offset === offset,
        () =>
          `${process} recovered ${channel} at ${epoch} ${offset}, but the client asked for ${asked?.epoch} ${asked?.offset}`,
      )
    this.#positions.set(name, { epoch, offset })
  }

  #event(process: string, { channel, event, offset }: Body): void {
    const position = this.#positions.get(channel)
    const expected = (position?.offset ?? 0) + 1
    this.#violations.check(
      11,
      position !== undefined && offset === expected,
      () => `${process} sent event ${offset} of ${channel}, expected ${expected}`,
    )
    if (position === undefined) return
    position.offset = offset
    this.#events.push({ channel, epoch: position.epoch, offset, type: event })
  }

  /** Names the channels that have not reached the position of the database. */
  async missing(sql: postgres.Sql): Promise<ReadonlyArray<string>> {
    const rows = await sql<{ name: string; epoch: string; offset: string }[]>`
      select name, epoch, "offset" from channel where name = any(${[...this.channels]})`
    return rows
      .filter(({ epoch, name, offset }) => {
        const position = this.#positions.get(name)
        return position?.epoch !== epoch || position.offset !== Number(offset)
      })
      .map(({ name, offset }) => `${name} at ${this.#positions.get(name)?.offset} of ${offset}`)
  }

  /** Compares every received event with the database. */
  async compare(sql: postgres.Sql): Promise<void> {
    const rows = await sql<{ key: string; type: string }[]>`
      select e.channel || ' ' || c.epoch || ' ' || e."offset" as key, e.type
        from event e join channel c on c.name = e.channel where e.channel = any(${[...this.channels]})`
    const stored = new Map(rows.map(({ key, type }) => [key, type]))
    for (const { channel, epoch, offset, type } of this.#events) {
      const found = stored.get(`${channel} ${epoch} ${offset}`)
      this.#violations.check(
        11,
        found === type,
        () => `event ${offset} of ${channel} was received as ${type}, and is stored as ${found}`,
      )
    }
  }
}

import { liveEvents } from "../../schema/live-events.ts"
import type { EventExample, EventExamples } from "../../src/live/asyncapi.ts"
import type { TestService } from "../fixtures/service.ts"
import { formOfValue, stabilizer } from "./stable-values.ts"

/** The name of a channel as clients see it: a user has one cart, so its channel has no id. */
const shownChannel = (channel: string, type: keyof typeof liveEvents): string => {
  const [kind = ""] = channel.split(":")
  return (liveEvents[type].channels as ReadonlyArray<string>).includes(kind) ? kind : channel
}

/** Reads an event of each type that the requests before have caused: the one with the most members. */
export const recordEvents = async (service: TestService): Promise<EventExamples> => {
  const rows = await service.sql<Array<{ type: keyof typeof liveEvents; channel: string; data: object }>>`
    select distinct on (type) type, channel, data from event where type = any(${Object.keys(liveEvents)})
     order by type, (select count(*) from jsonb_object_keys(data)) desc,
              length(regexp_replace(data::text, '[^"]', '', 'g')) desc, at`
  return Object.fromEntries(
    rows.map(({ channel, data, type }): [string, EventExample] => {
      const { stable, text } = stabilizer(service.url)
      const shown = { channel: text(shownChannel(channel, type)), offset: 42, at: "2026-01-31T12:00:00.000Z" }
      return [type, { ...shown, data: stable(data) }]
    }),
  )
}

/** Keeps an old example of the same form, because the emoji ids in it are random. Types that did not occur keep theirs. */
export const keepUnchangedEvents = (old: EventExamples, recorded: EventExamples): EventExamples => {
  const form = (example: EventExample | undefined) => JSON.stringify(formOfValue(example))
  const all: Record<string, EventExample> = {}
  for (const type of Object.keys(liveEvents)) {
    const [before, now] = [old[type], recorded[type]]
    const kept = now === undefined || form(before) === form(now) ? (before ?? now) : now
    if (kept !== undefined) all[type] = kept
  }
  return all
}

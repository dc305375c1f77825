import { Effect } from "effect"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import { Outbox } from "../turns/outbox.ts"
import type { Command } from "./command-line/command.ts"

const unsent: Command = {
  name: "mail unsent",
  words: [],
  summary:
    "List up to 200 messages that are not sent any more: they were given up after failed attempts, or held by a restore",
  run: () => Outbox.use((outbox) => outbox.unsent(200)),
}

const retry: Command = {
  name: "mail retry",
  words: ["id"],
  summary: "Send a message of `mail unsent`",
  run: ({ words: [id = ""] }) =>
    Effect.gen(function* () {
      if (!/^\d{1,15}$/.test(id)) return yield* new InvalidRequest({ error: `Not an id of a message: ${id}` })
      const isFound = yield* Outbox.use((outbox) => outbox.retryUnsent(Number(id)))
      return isFound
        ? { retried: Number(id) }
        : yield* new NotFound({ error: `No unsent message has the id ${id}` })
    }),
}

export const mailCommands: ReadonlyArray<Command> = [unsent, retry]

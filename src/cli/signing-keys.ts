import { Effect } from "effect"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { makeSigningKey } from "../proofs/new-key.ts"
import { makeSigningKeyStore, type StoredKey } from "../proofs/signing-key-store.ts"
import { type Command, optionOf } from "./command-line/command.ts"

/** Wallets read the key document at least once a day, so they know a key before it signs. */
const usualHours = 24
const mostHours = 8760

const hoursOf = (text: string): number => {
  if (/^\d{1,4}$/.test(text) && Number(text) <= mostHours) return Number(text)
  throw new InvalidRequest({
    error: `--hours: expected a whole number from 0 to ${mostHours}, got ${JSON.stringify(text)}.`,
  })
}

const timeOf = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString()

const list = Effect.gen(function* () {
  const keys = yield* (yield* makeSigningKeyStore).list
  const now = Date.now() / 1000
  const isOpen = ({ notAfter, notBefore }: StoredKey) =>
    notBefore <= now && (notAfter === null || notAfter > now)
  const signing = keys.find(isOpen)
  const statusOf = (key: StoredKey): string => {
    if (key === signing) return "signs"
    if (isOpen(key)) return "published"
    return key.notBefore > now ? "signs later" : "ended"
  }
  return keys.map((key) => ({
    kid: key.kid,
    status: statusOf(key),
    not_before: timeOf(key.notBefore),
    not_after: timeOf(key.notAfter),
  }))
})

const listKeys: Command = {
  name: "signing-keys list",
  words: [],
  summary: "List the keys that sign proofs of answers, the newest first",
  run: () => list,
}

const rotate: Command = {
  name: "signing-keys rotate",
  words: [],
  options: ["hours"],
  summary: `Publish a new signing key, which signs after --hours (default ${usualHours}). The former key signs until then, and is published until its last proofs have expired`,
  run: Effect.fnUntraced(function* (input) {
    const hours = hoursOf(optionOf(input, "hours") ?? String(usualHours))
    const { proofSeconds } = yield* AppConfig
    const store = yield* makeSigningKeyStore
    yield* store.rotate(yield* makeSigningKey, hours * 3600, proofSeconds)
    return yield* list
  }),
}

const retire: Command = {
  name: "signing-keys retire",
  words: ["kid"],
  summary:
    "End a signing key now, for example because it was stolen: its proofs are refused by everybody who reads the published keys again. Another key must sign; if there is none, run `signing-keys rotate --hours 0` first",
  run: Effect.fnUntraced(function* ({ words: [kid = ""] }) {
    const store = yield* makeSigningKeyStore
    const key = (yield* store.list).find((one) => one.kid === kid)
    if (key === undefined) return yield* new NotFound({ error: `There is no signing key "${kid}".` })
    if (!(yield* store.retire(kid)))
      return yield* new InvalidRequest({
        error:
          "This key has ended already, or no other key signs. Run `signing-keys rotate --hours 0` before you retire the only key.",
      })
    return yield* list
  }),
}

export const signingKeyCommands: ReadonlyArray<Command> = [listKeys, rotate, retire]

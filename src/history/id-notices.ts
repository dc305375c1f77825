import { Context, Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import { findRecordClass, formatTag } from "../../schema/directory/records/record-tag.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { Outbox } from "../turns/outbox.ts"
import { type DueMail, type MailedChange, type MailedRecord, makeIdNoticeStore } from "./id-notice-store.ts"

const eventsPerRound = 500
const usersPerRound = 50
/** A mail lists this many changes. Of the others it has the number, and the ids. */
const linesPerMail = 30
const recordsPerLine = 5
const shownCharacters = 200

const texts: Readonly<Record<MailedChange["kind"], string>> = {
  registered: "registered for you",
  records: "the payment addresses were changed",
  data: "stored data was changed",
  signature: "the records were signed",
  owner: "transferred to another owner. You no longer own it",
  key: "it got another key",
  minted: "minted as a token",
  burned: "its token was destroyed",
  released: "removed from the directory. You no longer own it",
}

const isPayment = ({ tag }: MailedRecord): boolean => {
  const found = findRecordClass(tag)
  return found === "crypto" || found === "payment"
}
const recordText = ({ data, tag }: MailedRecord): string =>
  data === null
    ? formatTag(tag)
    : `${formatTag(tag)} ${data.length > shownCharacters ? `${data.slice(0, shownCharacters)}…` : data}`

/** Describes the payment addresses among the records. */
const recordsText = (what: string, records: MailedChange["added"]): ReadonlyArray<string> => {
  const addresses = (records ?? []).filter(isPayment)
  if (addresses.length === 0) return []
  const named = addresses.slice(0, recordsPerLine).map(recordText).join(", ")
  const more = addresses.length - recordsPerLine
  return [`${what} ${named}${more > 0 ? ` and ${more} more` : ""}`]
}

const lineOf = ({ added, at, canonical, got, kind, removed }: MailedChange): string => {
  const what = got === true ? "transferred to you" : texts[kind]
  const records = [...recordsText("added", added), ...recordsText("removed", removed)]
  return `${canonical}, ${at}: ${[what, ...records].join("; ")}`
}

/** Returns the data of the mail about changed ids. */
const mailData = ({ changes, ids, total }: DueMail, link: string) => ({
  lines: (changes ?? []).map(lineOf),
  emoji_ids: (ids ?? []).map(({ canonical, count }) => `${canonical} (${count})`),
  total,
  link,
})

/**
 * Notifies owners of the changes of their ids: a live event for each change, and a mail for changes of the owner, of
 * the key and of payment addresses. A user gets at most one mail an hour, for all ids together, so that an attacker cannot bury a
 * warning under many others. The changes within this hour are in the next mail. The queues are in the database, so the limit
 * holds for all processes and after a restart.
 */
export class IdNotices extends Context.Service<
  IdNotices,
  {
    /** Sends all notices that are due. */
    readonly round: Effect.Effect<void, Unavailable>
  }
>()("directory/IdNotices") {
  static readonly layer = Layer.effect(
    IdNotices,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const outbox = yield* Outbox
      const publisher = yield* Publisher
      const store = yield* makeIdNoticeStore

      const tell: Effect.Effect<void, Unavailable> = Effect.gen(function* () {
        for (;;) {
          const events = yield* store.tell(eventsPerRound)
          publisher.moved(events)
          if (events.length < eventsPerRound) return
        }
      })
      const mail = Effect.gen(function* () {
        for (;;) {
          const due = yield* store.due(usersPerRound, linesPerMail)
          for (const one of due) {
            const { email, lastSeq } = one
            const data = mailData(one, `${config.webUrl}/console`)
            const rows =
              email === null || lastSeq === null
                ? []
                : yield* outbox.seal([{ to: email, kind: "emoji_ids_changed", data }])
            yield* store.send(one, rows)
          }
          if (due.length < usersPerRound) return
        }
      })
      const round = Effect.andThen(tell, mail)

      yield* Effect.forkScoped(
        round.pipe(
          Effect.catchCause((cause) => Effect.logDebug("notices about changed ids failed", cause)),
          Effect.delay(`${config.sweepIntervalMs} millis`),
          Effect.forever,
        ),
      )
      return IdNotices.of({ round })
    }),
  )
}

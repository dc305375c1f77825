import { randomUUID } from "node:crypto"
import { linkSync, rmSync, writeFileSync } from "node:fs"
import { Effect, Option } from "effect"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import { phoneAad } from "../accounts/two-factor/second-factors.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { Orders, orderList } from "../orders/order-store.ts"
import { OrderViews } from "../orders/order-view.ts"
import {
  clearKeptIds,
  forgetPerson,
  readDeletion,
  readPerson,
  readSealedPhones,
} from "../personal-data/personal-data-store.ts"
import { type Command, everyPage, optionOf, userId } from "./command-line/command.ts"
import { withOrders } from "./order-services.ts"
import { removeUser } from "./users.ts"

/** The orders of a user as the API shows them, with what the API leaves out: the email of the checkout and tracking data. */
const ordersOf = Effect.fnUntraced(function* (id: string) {
  const filter = { userId: id, status: undefined, holdsMoney: undefined }
  const rows = yield* everyPage({ dir: orderList.dir, sort: "created_at" }, (page) =>
    Orders.use((orders) => orders.list(filter, page)),
  )
  const shown = yield* OrderViews.use((views) => views.showMany(rows))
  return shown.map(({ user: _, ...order }, i) => {
    const { checkout, tracking } = rows[i]!.context
    return { ...order, checkout_email: checkout?.email ?? null, tracking_data: tracking ?? null }
  })
})

const openPhone = (id: string, sealed: string) =>
  Seal.use((seal) => seal.open(sealed, phoneAad(id))).pipe(Effect.map((phone) => phone.toString()))

const personOf = Effect.fnUntraced(function* (id: string) {
  const { emoji_ids, two_factor, ...stored } = yield* readPerson(id)
  const factors = yield* Effect.forEach(two_factor, ({ sealed_phone, ...factor }) =>
    sealed_phone === null
      ? Effect.succeed(factor)
      : openPhone(id, sealed_phone).pipe(
          Effect.map((phone) => ({ ...factor, phone })),
          Effect.mapError(
            () =>
              new InvalidRequest({
                error: "The telephone number cannot be decrypted. Set SECRET_KEYS as for the service.",
              }),
          ),
        ),
  )
  return {
    exported_at: new Date().toISOString(),
    ...stored,
    two_factor: factors,
    emoji_ids: emoji_ids.map(({ stored_data, ...owned }) => ({
      ...owned,
      stored_data: Object.fromEntries(
        Object.entries(stored_data).map(([key, json]): [string, unknown] => [key, JSON.parse(json)]),
      ),
    })),
    orders: yield* ordersOf(id),
  }
})

/** Creates a file that only this user can read, and never replaces one. */
const writeNew = (file: string, text: string) => {
  const part = `${file}.${randomUUID()}`
  try {
    writeFileSync(part, text, { flag: "wx", mode: 0o600 })
    linkSync(part, file)
  } finally {
    rmSync(part, { force: true })
  }
}

const exportUser: Command = {
  name: "users export",
  words: ["user"],
  options: ["file"],
  summary:
    "Export what is stored about a user, as JSON. Passwords, private keys and codes are not included. --file writes it to a new file instead",
  example: "ada@example.com --file ada.json",
  run: (input) =>
    Effect.gen(function* () {
      const person = yield* withOrders(personOf(yield* userId(input.words[0] ?? "")))
      const file = optionOf(input, "file")
      if (file === undefined) return person
      const text = `${JSON.stringify(person, null, 2)}\n`
      yield* Effect.try({
        try: () => writeNew(file, text),
        catch: (error) =>
          new InvalidRequest({
            error:
              (error as NodeJS.ErrnoException).code === "EEXIST"
                ? `--file: ${file} exists. Name a new file.`
                : `--file: ${(error as Error).message}`,
          }),
      })
      return { file, bytes: Buffer.byteLength(text) }
    }),
  text: (result: object) => JSON.stringify(result, null, 2),
}

/** Deletes the account if it is not deleted yet. A deleted user has no email any more, so only its id names it. */
const deleteAccount = Effect.fnUntraced(function* (id: string, insists: boolean) {
  const found = yield* readDeletion(id)
  if (found === undefined) return yield* new NotFound({ error: `User not found: ${id}` })
  if (!found.isDeleted) yield* removeUser(id, insists)
})

const eraseUser: Command = {
  name: "users erase",
  words: ["user"],
  flags: ["force"],
  summary:
    "Delete a user and all personal data. Ledger entries, orders and transfers stay without it. --force also erases a user who owns ids; the ids stay reserved, without records. Run it again if it was interrupted, with the id of the user",
  run: ({ options, words: [user = ""] }) =>
    Effect.gen(function* () {
      const id = yield* userId(user)
      const sealed = yield* readSealedPhones(id)
      // A number that cannot be decrypted does not prevent the erasure. Messages to it are deleted when they are old.
      const phones = yield* Effect.forEach(sealed, (phone) => Effect.option(openPhone(id, phone)))
      yield* deleteAccount(id, options["force"] !== undefined)
      yield* forgetPerson(id, phones.flatMap(Option.toArray))
      return { id, erased: true, cleared_emoji_ids: yield* clearKeptIds(id) }
    }),
}

export const personalDataCommands: ReadonlyArray<Command> = [exportUser, eraseUser]

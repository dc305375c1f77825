import { Effect } from "effect"
import { readKeylessUsers, type UserPosition } from "./missing-key-store.ts"
import { Pubkeys } from "./pubkey-store.ts"

const usersPerPart = 200
const beforeAll: UserPosition = { at: "-infinity", id: "00000000-0000-0000-0000-000000000000" }

/**
 * Makes the task that adds a custodial key to every user without one. Release 0.2 created accounts without a key, and
 * its processes may still run beside this one. So the task is repeated: the first run reads all users, and each further
 * run continues with the users who were created since then. Several processes can run it at the same time.
 */
export const makeGiveMissingKeys = Effect.sync(() => {
  let after = beforeAll
  return Effect.gen(function* () {
    const pubkeys = yield* Pubkeys
    for (;;) {
      const { keyless, last } = yield* readKeylessUsers(after, usersPerPart)
      if (keyless.length > 0) yield* pubkeys.giveFirst(keyless)
      if (last === null) return
      after = last
    }
  })
})

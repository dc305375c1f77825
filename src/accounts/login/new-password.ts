import { Effect } from "effect"
import type { Mail } from "../../../schema/turn.ts"
import type { Account } from "../account-store.ts"
import { Passwords } from "../passwords.ts"
import { unacceptable } from "../registration.ts"
import { queueFull } from "./login.ts"

/** A mail that reports a change of the account. Only a confirmed address gets it. */
export const noticeTo = (account: Account, change: string): ReadonlyArray<Mail> =>
  account.email === null || !account.email_verified
    ? []
    : [{ to: account.email, kind: "security_notice", data: { change } }]

/** Hashes a new password. Fails with an error of the field `password` if the password is not acceptable. */
export const hashNewPassword = (password: string) =>
  Passwords.use((passwords) =>
    passwords.hash(password).pipe(
      Effect.catchTags({
        PasswordUnacceptable: (failure) => Effect.fail(unacceptable(failure)),
        PasswordQueueFull: (failure) => Effect.fail(queueFull(failure)),
      }),
    ),
  )

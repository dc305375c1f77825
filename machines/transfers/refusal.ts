import type { IssuedCode, TransferContext } from "../../schema/transfers/transfer-snapshot.ts"

export const maxWrongTries = 5
// Without this limit, a stolen session could guess codes until the transfer expires.
export const maxResends = 10
const resendPauseMs = 60_000

/** Why a transfer that awaits a code refuses a code, or the request for a new one. */
export type Refusal =
  | { readonly reason: "transfer_expired" }
  | { readonly reason: "too_many_tries" }
  | { readonly reason: "code_expired" }
  | { readonly reason: "too_many_resends" }
  | { readonly reason: "resend_too_early"; readonly waitMs: number }

/** The code that the transfer awaits. The sender's code is removed when the receiver's code is stored. */
export const awaitedCode = ({ receiverCode, senderCode }: TransferContext): IssuedCode | null =>
  senderCode ?? receiverCode

export const withAwaitedCode = (context: TransferContext, code: IssuedCode): Partial<TransferContext> =>
  context.senderCode === null ? { receiverCode: code } : { senderCode: code }

export const resendableAt = (code: IssuedCode | null): number =>
  code === null ? 0 : code.sentAt + resendPauseMs

export const hasExpired = ({ expiresAt }: TransferContext, now: number): boolean =>
  now >= Date.parse(expiresAt)

/** The rules for `SENDER_ACCEPT`, `RECEIVER_ACCEPT` and `RESEND`. A wrong code is not refused: it counts as a try. */
export const refusal = (
  context: TransferContext,
  { now, type }: { readonly type: string; readonly now: number },
): Refusal | undefined => {
  if (hasExpired(context, now)) return { reason: "transfer_expired" }
  const code = awaitedCode(context)
  if (type === "RESEND") {
    if ((code?.resends ?? 0) >= maxResends) return { reason: "too_many_resends" }
    const waitMs = resendableAt(code) - now
    return waitMs > 0 ? { reason: "resend_too_early", waitMs } : undefined
  }
  if (code === null || code.wrongTries >= maxWrongTries) return { reason: "too_many_tries" }
  return now >= code.expiresAt ? { reason: "code_expired" } : undefined
}

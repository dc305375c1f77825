import type { IssuedCode, TransferContext } from "../../schema/transfers/transfer-snapshot.ts"

export const maxWrongTries = 5
// Limits how many codes can be requested. Without this limit, an attacker with a stolen session could
// guess codes for days.
export const maxResends = 10
const resendPauseMs = 60_000

/** Why a transfer refuses a code, or the request for a new code. */
export type Refusal =
  | { readonly reason: "transfer_expired" }
  | { readonly reason: "too_many_tries" }
  | { readonly reason: "code_expired" }
  | { readonly reason: "too_many_resends" }
  | { readonly reason: "resend_too_early"; readonly waitMs: number }

/** The code that the transfer waits for. When the receiver's code is stored, the sender's code is removed. */
export const awaitedCode = ({ receiverCode, senderCode }: TransferContext): IssuedCode | null =>
  senderCode ?? receiverCode

export const withAwaitedCode = (context: TransferContext, code: IssuedCode): Partial<TransferContext> =>
  context.senderCode === null ? { receiverCode: code } : { senderCode: code }

export const resendableAt = (code: IssuedCode | null): number =>
  code === null ? 0 : code.sentAt + resendPauseMs

export const hasExpired = ({ expiresAt }: TransferContext, now: number): boolean =>
  now >= Date.parse(expiresAt)

/**
 * Returns why the event `SENDER_ACCEPT`, `RECEIVER_ACCEPT` or `RESEND` is refused, or undefined. A wrong code is not
 * refused, because the turn must be committed to count the try.
 */
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

/** A code on its way to one party. The code itself is in the mail; here is only what recognises it. */
export interface CodeSlip {
  readonly hash: string
  readonly sentAt: number
  readonly expiresAt: number
  readonly wrongTries: number
  readonly resends: number
}

export const maxWrongTries = 5
// Without it a stolen session could guess for as long as the transfer lives.
export const maxResends = 10
const resendPauseMs = 60_000

export type CodeVerdict = "right" | "wrong" | "expired" | "spent"

export const judge = (slip: CodeSlip | null, now: number, matches: boolean): CodeVerdict => {
  if (slip === null || slip.wrongTries >= maxWrongTries) return "spent"
  if (now >= slip.expiresAt) return "expired"
  return matches ? "right" : "wrong"
}

export const wrongTry = (slip: CodeSlip | null): CodeSlip | null =>
  slip && { ...slip, wrongTries: slip.wrongTries + 1 }

export const resendableAt = (slip: CodeSlip | null): number =>
  slip === null ? 0 : slip.sentAt + resendPauseMs

export const isResendable = (slip: CodeSlip | null, now: number): boolean =>
  now >= resendableAt(slip) && (slip?.resends ?? 0) < maxResends

export const replaced = (old: CodeSlip | null, fresh: CodeSlip): CodeSlip => ({
  ...fresh,
  resends: (old?.resends ?? 0) + 1,
})

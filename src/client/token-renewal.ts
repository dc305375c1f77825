/** A token is renewed when this share of its life is left. */
const renewAtShare = 0.2
/** A token just taken that ends sooner than this by our clock says that the clock is wrong; the server's will tell. */
const leastLeftMs = 2000
/** A timer set for longer goes off at once. */
const longestTimerMs = 2 ** 31 - 1

/** How long to wait before a token is renewed that ends at this time. Undefined: it is not. */
export const renewalMs = (expiresAt: string | null): number | undefined => {
  const leftMs = expiresAt === null ? 0 : Date.parse(expiresAt) - Date.now()
  return leftMs < leastLeftMs ? undefined : Math.min(longestTimerMs, leftMs * (1 - renewAtShare))
}

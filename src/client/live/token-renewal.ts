/** A token is renewed when this share of its lifetime remains. */
const renewAtShare = 0.2
/**
 * If a new token seems to expire sooner than this, the local clock is probably wrong, and no renewal is scheduled. The
 * server closes the socket when the token expires, and the next connection renews it.
 */
const leastLeftMs = 2000
/** The longest delay of setTimeout. A longer one fires immediately. */
const longestTimerMs = 2 ** 31 - 1

/** Returns the delay after which a token with this expiry is renewed. Returns undefined if no renewal is scheduled. */
export const renewalMs = (expiresAt: string | null): number | undefined => {
  const leftMs = expiresAt === null ? 0 : Date.parse(expiresAt) - Date.now()
  return leftMs < leastLeftMs ? undefined : Math.min(longestTimerMs, leftMs * (1 - renewAtShare))
}

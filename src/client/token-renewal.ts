/** A token is renewed when this share of its lifetime remains. */
const renewAtShare = 0.2
/** If a new token expires sooner by the local clock, the clock is wrong. The server then closes the socket in time. */
const leastLeftMs = 2000
/** The longest delay of setTimeout. A longer one fires immediately. */
const longestTimerMs = 2 ** 31 - 1

/** The delay until a token with this expiry is renewed. Undefined: it is not renewed. */
export const renewalMs = (expiresAt: string | null): number | undefined => {
  const leftMs = expiresAt === null ? 0 : Date.parse(expiresAt) - Date.now()
  return leftMs < leastLeftMs ? undefined : Math.min(longestTimerMs, leftMs * (1 - renewAtShare))
}

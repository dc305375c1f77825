/** What a page's policy must allow so that its form's answer may send the browser on to the address. */
export const formTarget = (address: string | null): ReadonlyArray<string> => {
  if (address === null || !URL.canParse(address)) return []
  const { origin, protocol } = new URL(address)
  return [origin === "null" ? protocol : origin]
}

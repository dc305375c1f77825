import { isIPv4, isIPv6 } from "node:net"

/**
 * Returns the short form of an IPv6 address, such as ::1. Sockets report the long form, such as
 * 0000:0000:0000:0000:0000:0000:0000:0001.
 */
const shortIPv6 = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)

/**
 * Matches an address 127.x.x.x that is written as an IPv6 address. A server that listens on `::` sees IPv4 callers in
 * this form.
 */
const mappedLoopback = /^::ffff:7f[0-9a-f]{2}:/

/** Whether a host name or an address always means this machine. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  if (isIPv6(bare)) {
    const short = shortIPv6(bare)
    return short === "::1" || mappedLoopback.test(short)
  }
  return bare === "localhost" || (isIPv4(bare) && bare.startsWith("127."))
}

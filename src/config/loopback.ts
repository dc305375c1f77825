import { isIPv4, isIPv6 } from "node:net"

/** The shortest spelling: a socket names addresses in full, such as 0000:0000:0000:0000:0000:0000:0000:0001. */
const shortIPv6 = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)

/** 127.x.x.x written as an IPv6 address, as a server that listens on `::` sees IPv4 callers. */
const mappedLoopback = /^::ffff:7f[0-9a-f]{2}:/

/** Whether a host name or an address, listened on or named by a client, is this machine and no other. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  if (isIPv6(bare)) {
    const short = shortIPv6(bare)
    return short === "::1" || mappedLoopback.test(short)
  }
  return bare === "localhost" || (isIPv4(bare) && bare.startsWith("127."))
}

import { isIPv4 } from "node:net"

/** Whether a host name or an address, as listened on or named by a client, is this machine and no other. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return bare === "localhost" || bare === "::1" || (isIPv4(bare) && bare.startsWith("127."))
}

import { once } from "node:events"
import { createServer } from "node:net"

/** The error of the system when this process tries to listen, or undefined if it can listen. */
const listenError = async (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> => {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, "listening")
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
  probe.close()
  await once(probe, "close")
  return undefined
}

/**
 * Returns the reason why this process cannot listen on the port, with the setting and what to do. Returns undefined if it
 * can. `setting` is the name of the setting of the port.
 */
export const listenProblem = async (
  host: string,
  port: number,
  setting = "PORT",
): Promise<string | undefined> => {
  const error = await listenError(host, port)
  switch (error?.code) {
    case undefined:
      return error?.message
    case "EADDRINUSE":
      return `${setting}: port ${port} of ${host} is in use. Stop the process that uses it (ss -ltnp), or set another ${setting}.`
    case "EACCES":
      return `${setting}: this user may not listen on port ${port} of ${host}. Set a port of 1024 or higher, and a proxy in front of it.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `HOST: ${host} is no address of this machine. Use 127.0.0.1, 0.0.0.0 or an address that "ip addr" shows.`
    default:
      return `${setting}: cannot listen on port ${port} of ${host}: ${error?.message}`
  }
}

import { createServer } from "node:net"
import { BenchFailure } from "../failure.ts"

export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (address === null || typeof address === "string") throw new BenchFailure("no free port")
  return address.port
}

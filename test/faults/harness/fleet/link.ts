import { once } from "node:events"
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** A TCP proxy between two programs of the fleet. Its faults are those of a network. */
export interface Link {
  readonly port: number
  /** Breaks the open connections. New ones are accepted. */
  cut(): void
  /**
   * Stops all data without closing a connection, as a network that drops every packet. After `heal` the data
   * continues where it stopped, as TCP repeats what was lost.
   */
  stall(): void
  /** Delays the data in each direction. */
  delay(ms: number): void
  /** Breaks the open connections and refuses new ones until `heal`. */
  refuse(): void
  heal(): void
  close(): void
}

/** Starts a link to an address, which is read for each connection, because a restarted server can have another one. */
export const openLink = async (target: () => NetConnectOpts): Promise<Link> => {
  const sockets = new Set<Socket>()
  let delayMs = 0
  let refuses = false
  let stalled: { readonly over: Promise<void>; readonly end: () => void } | undefined

  const carry = async (from: Socket, to: Socket) => {
    try {
      for await (const chunk of from) {
        if (stalled !== undefined) await stalled.over
        if (delayMs > 0) await sleep(delayMs)
        if (!to.write(chunk)) await once(to, "drain")
      }
      to.end()
    } catch {
      to.destroy()
    }
  }

  const server = createServer({ allowHalfOpen: true }, async (near) => {
    sockets.add(near)
    near.on("error", () => {})
    near.on("close", () => sockets.delete(near))
    if (refuses) return near.destroy()
    if (stalled !== undefined) await stalled.over
    if (near.destroyed) return
    const far = connect({ ...target(), allowHalfOpen: true } as NetConnectOpts)
    sockets.add(far)
    far.on("error", () => near.destroy())
    far.on("close", () => {
      sockets.delete(far)
      near.destroy()
    })
    near.on("close", () => far.destroy())
    void carry(near, far)
    void carry(far, near)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const heal = () => {
    delayMs = 0
    refuses = false
    stalled?.end()
    stalled = undefined
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    heal,
    stall: () => {
      if (stalled !== undefined) return
      let end = () => {}
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      stalled = { over, end }
    },
    delay: (ms) => {
      delayMs = ms
    },
    refuse: () => {
      refuses = true
      cut()
    },
    close: () => {
      heal()
      server.close()
      cut()
    },
  }
}

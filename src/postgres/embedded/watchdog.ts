import { spawn } from "node:child_process"
import { once } from "node:events"
import { Socket } from "node:net"
import { type Account, serverEnvironment } from "./os-user.ts"

/** Reads the server's pid, then waits: its input ends when this process does, even by SIGKILL. A second line calls it off. */
const script = `trap '' HUP INT TERM
read -r server || exit 0
read -r ended || kill -INT "$server"`

export interface Watchdog {
  readonly guard: (pid: number) => void
  readonly dismiss: () => void
}

/** Started before the server, so that no moment is left in which our death would leave it running. */
export const startWatchdog = async (account: Account): Promise<Watchdog> => {
  const shell = spawn("/bin/sh", ["-c", script], {
    ...account,
    cwd: "/",
    env: serverEnvironment,
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  })
  // Somebody may kill it; a broken pipe must not take us down as well.
  shell.stdin.on("error", () => {})
  await once(shell, "spawn")
  shell.unref()
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  return {
    guard: (pid) => shell.stdin.write(`${pid}\n`),
    dismiss: () => shell.stdin.end("ended\n"),
  }
}

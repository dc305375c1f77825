import { spawn } from "node:child_process"
import { once } from "node:events"
import { Socket } from "node:net"
import { type Account, serverEnvironment } from "./os-user.ts"

/**
 * The shell script reads the pid of the server from its input, then waits for a second line. If its input ends first,
 * this process has ended, even by SIGKILL, and the script stops the server. A second line ends the script without
 * stopping the server.
 */
const script = `trap '' HUP INT TERM
read -r server || exit 0
read -r ended || kill -INT "$server"`

export interface Watchdog {
  readonly guard: (pid: number) => void
  readonly dismiss: () => void
}

/**
 * Starts a process that stops the server when this process ends. The watchdog is started before the server, so that
 * the server is always watched.
 */
export const startWatchdog = async (account: Account): Promise<Watchdog> => {
  const shell = spawn("/bin/sh", ["-c", script], {
    ...account,
    cwd: "/",
    env: serverEnvironment,
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  })
  // If the watchdog is killed, the broken pipe must not end this process.
  shell.stdin.on("error", () => {})
  await once(shell, "spawn")
  shell.unref()
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  return {
    guard: (pid) => shell.stdin.write(`${pid}\n`),
    dismiss: () => shell.stdin.end("ended\n"),
  }
}

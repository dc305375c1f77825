import { execFile } from "node:child_process"
import { BenchFailure } from "../failure.ts"
import { killOnExit } from "./child.ts"

const maxOutputBytes = 64 * 2 ** 20
const shownChars = 2_000

/**
 * Runs a program and returns its standard output. Rejects if the program fails. The program is killed when the bench
 * exits.
 */
export const runCommand = (
  command: string,
  args: readonly string[],
  options: { readonly cwd: string },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      { ...options, maxBuffer: maxOutputBytes },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout)
        const output = `${stdout}\n${stderr}`.trim().slice(-shownChars) || error.message
        reject(new BenchFailure(`${command} ${args.join(" ")} failed: ${output}`))
      },
    )
    killOnExit(child)
  })

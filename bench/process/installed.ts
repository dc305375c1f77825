import { accessSync, constants } from "node:fs"
import { join } from "node:path"
import type { Side } from "../side.ts"
import { programPath } from "./child.ts"

/** Whether the program is in one of the folders in which the children of the bench look for programs. */
export const isInstalled = (program: string): boolean =>
  programPath.split(":").some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** Returns whether the side needs a program that is not installed, and reports it. */
export function reportMissing(side: Side, report: (text: string) => void): boolean {
  const needs = side.kind === "server" ? side.needs : undefined
  if (needs === undefined || isInstalled(needs)) return false
  report(`${side.name} is not measured, because ${needs} is not installed (Debian: apt-get install ${needs})`)
  return true
}

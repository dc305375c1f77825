import { Effect } from "effect"
import { AppConfig, type Config } from "../config.ts"
import { Passwords } from "../services/passwords.ts"
import type { DemoItem } from "../store/demo-items.ts"
import { describeUsable, findUsable } from "./usable.ts"

/** Stops a production start on a database whose demo data is usable. */
export const refuseUsableDemo = async (config: Config, left: ReadonlyArray<DemoItem>): Promise<void> => {
  const usable = await Effect.runPromise(
    findUsable(left).pipe(Effect.provide(Passwords.layer()), Effect.provideService(AppConfig, config)),
  )
  if (usable.length > 0) throw new Error(describeUsable(usable))
}

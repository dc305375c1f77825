import { Effect } from "effect"
import { Passwords } from "../accounts/passwords.ts"
import { AppConfig, type Config } from "../config/read-config.ts"
import type { DemoItem } from "./demo-item-store.ts"
import { describeUsable, findUsable } from "./find-usable.ts"

/** Fails a production start if the database has usable demo data. */
export const refuseUsableDemo = async (config: Config, left: ReadonlyArray<DemoItem>): Promise<void> => {
  const usable = await Effect.runPromise(
    findUsable(left).pipe(Effect.provide(Passwords.layer()), Effect.provideService(AppConfig, config)),
  )
  if (usable.length > 0) throw new Error(describeUsable(usable))
}

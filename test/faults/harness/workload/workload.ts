import { setTimeout as sleep } from "node:timers/promises"
import { seeded } from "../../../fixtures/walk.ts"
import type { LiveLog } from "../oracle/live-log.ts"
import { NoAnswer } from "./api.ts"
import { addPubkey, createApiKey } from "./keys.ts"
import { watch } from "./live.ts"
import { logout, refresh, register, useSecondDevice } from "./logins.ts"
import { openLootbox } from "./lootboxes.ts"
import { editRecord } from "./records.ts"
import { buy } from "./shopping.ts"
import { transfer } from "./transfers.ts"
import type { User, World } from "./world.ts"

const pauseMs = 250
const readers = 4
const watchers = 4

/** What a user can do next. A step that is listed more often is chosen more often. */
const steps: ReadonlyArray<(world: World, user: User) => Promise<void>> = [
  ...[editRecord, editRecord, editRecord, editRecord, editRecord],
  ...[buy, buy, buy, transfer, transfer, openLootbox],
  ...[createApiKey, addPubkey, refresh, refresh, useSecondDevice, logout, register],
]

/** The steps and the seeds of their choices depend only on the seed of the run, not on the answers of earlier steps. */
const live = async (world: World, user: User): Promise<void> => {
  const choices = user.luck
  while (!world.isOver()) {
    const step = choices.pick(steps)!
    const pause = choices.below(2 * pauseMs)
    user.luck = seeded(choices.below(2 ** 31))
    try {
      await step(world, user)
    } catch (error) {
      // The operation is unknown. It stays in the list of the oracle, and the user goes on.
      if (!(error instanceof NoAnswer)) throw error
    }
    await sleep(pause)
  }
}

/** Runs all users, readers and live clients until the world is over. Returns what the live clients received. */
export const runWorkload = async (world: World): Promise<ReadonlyArray<LiveLog>> => {
  const { isOver, seed, users, versions } = world
  const [logs] = await Promise.all([
    Promise.all(Array.from({ length: watchers }, (_, place) => watch(world, seeded(seed * 11 + place)))),
    ...users.map((user) => live(world, user)),
    ...Array.from({ length: readers }, (_, place) => versions.read(seeded(seed * 7 + place), isOver)),
  ])
  return logs
}

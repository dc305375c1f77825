import { seeded } from "../../fixtures/walk.ts"
import { administration, apiKeys, login, passwordReset, twoFactor } from "./journeys/accounts.ts"
import { keys, records, transfers } from "./journeys/directory.ts"
import { organizations } from "./journeys/organizations.ts"
import { publicPages } from "./journeys/public-pages.ts"
import { codes, lootboxes, purchases } from "./journeys/shop.ts"
import { magicLinks, oauth, partnerFlows } from "./journeys/web-flows.ts"
import { Lane, type Target } from "./lane.ts"
import { fuzzLive } from "./live-lane.ts"
import { randomRequest } from "./random-request.ts"
import type { Tally } from "./tally.ts"
import { JourneyStopped, World } from "./world.ts"

type Journey = (world: World) => Promise<void>

/**
 * Together the journeys call every operation with a request that must succeed, except the webhook of Stripe, which is
 * not configured.
 */
const journeys: ReadonlyArray<Journey> = [
  publicPages,
  login,
  passwordReset,
  twoFactor,
  administration,
  apiKeys,
  records,
  keys,
  transfers,
  purchases,
  lootboxes,
  codes,
  organizations,
  oauth,
  magicLinks,
  partnerFlows,
]
const requestsPerRound = 150

const travel = async (world: World, journey: Journey): Promise<void> => {
  try {
    await journey(world)
  } catch (error) {
    // Mutated requests may change what the next step of the journey needs. Without them every step must succeed.
    if (!(error instanceof JourneyStopped)) throw error
    if (!world.mutates) world.lane.tally.violation(`a journey stopped: ${error.message}`)
  }
}

/** Sends every journey as it is. */
export const sendJourneys = async (world: World): Promise<void> => {
  for (const journey of journeys) await travel(world, journey)
}

/** Restores the prices, because administrators of the fuzzer may have made every id unsaleable. */
const restorePrices = async (world: World, prices: unknown): Promise<void> => {
  const as = await world.root()
  await world.lane.send(world.draft("writePriceParameters", { as, json: prices }))
}

/** Random requests, and journeys in which mutated requests precede each step. */
const wander = async (world: World, prices: unknown, isOver: () => boolean): Promise<void> => {
  const { lane } = world
  world.mutates = true
  while (!isOver()) {
    for (let n = 0; n < requestsPerRound && !isOver(); n++) await lane.send(randomRequest(lane))
    await travel(world, () => restorePrices(world, prices))
    if (!isOver()) await travel(world, lane.luck.pick(journeys)!)
  }
}

/**
 * Fuzzes the service. First each lane sends the journeys as they are, which reaches every operation. Then the lanes
 * send random requests, and another sends random frames on live sockets, until `isOver` returns true.
 */
export const fuzz = async (
  target: Target,
  tally: Tally,
  options: { readonly seed: number; readonly lanes: number; readonly isOver: () => boolean },
): Promise<void> => {
  const worlds = Array.from(
    { length: options.lanes },
    (_, at) => new World(new Lane(target, tally, seeded(options.seed + at * 7919))),
  )
  try {
    await target.sql`update app_user set role = 'Super' where email = ${target.admin.email}`
    const [first] = worlds
    const { json: prices } = await first!.call("readPriceParameters", { as: await first!.root() })
    await Promise.all(worlds.map(sendJourneys))
    await Promise.all([
      ...worlds.map((world) => wander(world, prices, options.isOver)),
      fuzzLive(target, tally, options.seed, options.isOver),
    ])
  } finally {
    for (const { lane } of worlds) lane.close()
  }
}

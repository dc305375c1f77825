import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { type Fleet, terminateBackends } from "../fleet/fleet.ts"
import { type Member, send } from "../fleet/member.ts"

const terminateEveryMs = 40
const delayMs = 150
const pollMs = 50
const fakeTimeLibraries = ["x86_64", "aarch64"].map(
  (machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`,
)

/** One fault. It returns after the given time, when its cause has ended. The recovery begins then. */
export interface Fault {
  /** The longest time, in seconds, for which the fault lasts. */
  readonly longest: number
  /** Whether the fault concerns one process. The others concern all. */
  readonly ofOne: boolean
  readonly run: (fleet: Fleet, member: Member, ms: number) => Promise<void>
}

const untilUp = async ({ postgres }: Fleet) => {
  while (!(await postgres.isUp())) await sleep(pollMs)
}

/** Restarts a process with a clock that differs by one hour, and then with the right one. */
const skewed = async (member: Member, ms: number, offset: "+1h" | "-1h") => {
  const library = fakeTimeLibraries.find((path) => existsSync(path))
  if (library === undefined) return
  await member.end("SIGTERM")
  // Timers keep the monotonic clock, as they do when the clock of a real machine is wrong.
  member.start({ LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: "1" })
  await member.untilReady()
  await sleep(ms)
  await member.end("SIGTERM")
  member.start()
  await member.untilReady()
}

export const catalog = {
  "kill -9 of a process": {
    longest: 5,
    ofOne: true,
    run: async (_, member, ms) => {
      await member.end("SIGKILL")
      await sleep(ms)
      member.start()
      await member.untilReady()
    },
  },
  "kill -9 of a worker": {
    longest: 3,
    ofOne: false,
    run: async ({ members }, _, ms) => {
      for (const member of members) {
        const [worker] = member.workers()
        if (worker !== undefined) send(worker, "SIGKILL")
      }
      await sleep(ms)
    },
  },
  "SIGSTOP of a process": {
    longest: 60,
    ofOne: true,
    run: async (_, member, ms) => {
      member.stall()
      await sleep(ms)
      member.goOn()
    },
  },
  "rolling restart": {
    longest: 2,
    ofOne: false,
    run: async ({ members }, _, ms) => {
      for (const member of members) {
        await member.end("SIGTERM")
        member.start()
        await member.untilReady()
        await sleep(ms / members.length)
      }
    },
  },
  "terminated backends": {
    longest: 8,
    ofOne: false,
    run: async (fleet, _, ms) => {
      for (const until = Date.now() + ms; Date.now() < until; await sleep(terminateEveryMs))
        await terminateBackends(fleet)
    },
  },
  "Postgres stopped immediately": {
    longest: 1,
    ofOne: false,
    run: async (fleet) => {
      fleet.postgres.end("immediate")
      await untilUp(fleet)
    },
  },
  "Postgres restarted fast": {
    longest: 1,
    ofOne: false,
    run: async (fleet) => {
      fleet.postgres.end("fast")
      await untilUp(fleet)
    },
  },
  "full disk of Postgres": {
    longest: 8,
    ofOne: false,
    run: async (fleet, _, ms) => {
      fleet.postgres.disk.fill()
      await sleep(ms)
      fleet.postgres.disk.free()
      await untilUp(fleet)
    },
  },
  "cut links to Postgres of a process": {
    longest: 6,
    ofOne: true,
    run: async (_, { database }, ms) => {
      database.refuse()
      await sleep(ms)
      database.heal()
    },
  },
  "cut links to Postgres of all": {
    longest: 4,
    ofOne: false,
    run: async ({ members }, _, ms) => {
      for (const { database } of members) database.refuse()
      await sleep(ms)
      for (const { database } of members) database.heal()
    },
  },
  "stalled link to Postgres of a process": {
    longest: 25,
    ofOne: true,
    run: async (_, { database }, ms) => {
      database.stall()
      await sleep(ms)
      database.heal()
    },
  },
  "stalled links to Postgres of all": {
    longest: 12,
    ofOne: false,
    run: async ({ members }, _, ms) => {
      for (const { database } of members) database.stall()
      await sleep(ms)
      for (const { database } of members) database.heal()
    },
  },
  "slow link to Postgres of a process": {
    longest: 10,
    ofOne: true,
    run: async (_, { database }, ms) => {
      database.delay(delayMs)
      await sleep(ms)
      database.heal()
    },
  },
  "Redis killed": {
    longest: 6,
    ofOne: false,
    run: async ({ redis }, _, ms) => {
      await redis.stop()
      await sleep(ms)
      await redis.start()
    },
  },
  "Redis stalled": {
    longest: 10,
    ofOne: false,
    run: async ({ redisLink }, _, ms) => {
      redisLink.stall()
      await sleep(ms)
      redisLink.heal()
    },
  },
  "mail server hangs": {
    longest: 20,
    ofOne: false,
    run: async ({ mail }, _, ms) => {
      mail.hang()
      await sleep(ms)
      mail.heal()
    },
  },
  "clock of a process one hour ahead": {
    longest: 15,
    ofOne: true,
    run: (_, member, ms) => skewed(member, ms, "+1h"),
  },
  "clock of a process one hour behind": {
    longest: 15,
    ofOne: true,
    run: (_, member, ms) => skewed(member, ms, "-1h"),
  },
} as const satisfies Readonly<Record<string, Fault>>

export type FaultName = keyof typeof catalog
export const faultNames = Object.keys(catalog) as ReadonlyArray<FaultName>

import { setTimeout as sleep } from "node:timers/promises"
import { Crowd, type CrowdPlan } from "./crowd/crowd.ts"
import { stopAllChildren } from "./process/child.ts"
import { readUsage } from "./process/usage.ts"
import { barePublish, liveCommits, type ServerSide } from "./side.ts"

// What a subscriber that hears nothing costs: resident memory of the server before and after many have joined, beside a
// bare server that keeps the same sockets. `npx tsx bench/idle-memory.ts [sockets]`

const sockets = Number(process.argv[2] ?? 10_000)
const joinWithinSeconds = 120
const settleMs = 5000
/** The first sockets pay for what all later ones share. */
const warmSockets = 500

const barePlan: CrowdPlan = { path: "/live", hello: () => ["everybody"], helloAnswers: 1 }
const livePlan: CrowdPlan = {
  path: "/live",
  hello: () => ['{"type":"connect"}', '{"type":"subscribe","channel":"emoji_id:🐙"}'],
  helloAnswers: 2,
}

const bytesPerSocket = async (side: ServerSide, plan: CrowdPlan): Promise<number> => {
  const { pid = 0, stop, target } = await side.start()
  const warm = new Crowd(warmSockets, target, plan, () => {})
  const crowd = new Crowd(sockets, target, plan, () => {})
  try {
    await warm.join(joinWithinSeconds)
    await sleep(settleMs)
    const before = readUsage(pid).rssMb
    if (!(await crowd.join(joinWithinSeconds))) throw new Error(`only ${crowd.ready} of ${sockets} joined`)
    await sleep(settleMs)
    return ((readUsage(pid).rssMb - before) * 1024 * 1024) / sockets
  } finally {
    crowd.leave()
    warm.leave()
    await stop()
  }
}

try {
  const bare = await bytesPerSocket(barePublish(), barePlan)
  const live = await bytesPerSocket(liveCommits(), livePlan)
  const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`
  console.log(`memory per idle subscriber, ${sockets} sockets on one channel`)
  console.log(
    `  bare ${kilobytes(bare)}, live ${kilobytes(live)}, beside it ${kilobytes(live - bare)} (aim: under 8 KB)`,
  )
} finally {
  await stopAllChildren()
}

import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Deadlines } from "../../actors/deadlines.ts"
import { type Answer, serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { type Luck, takeWalk, walkSeed } from "../fixtures/walk.ts"
import { age, codeFor, makeIds } from "./moves.ts"
import { findOffences } from "./oracle.ts"

const rounds = 30
const actorsAtOnce = 8

const nextId = makeIds(170_000)
const ids = Array.from({ length: 7 }, nextId)
let nodes: ReadonlyArray<TestService>
let admin: TestUser
let users: ReadonlyArray<TestUser>
const log: Array<string> = []

beforeAll(async () => {
  const environment = { SWEEP_INTERVAL_MS: "60000", TRANSFER_BLOCK_SECONDS: "1", CART_TTL_SECONDS: "300" }
  const first = await serve(environment, { peersPossible: true })
  nodes = [first, await serve(environment, { database: first.database, peersPossible: true })]
  admin = await first.user({ role: "Admin" })
  users = await Promise.all(Array.from({ length: 4 }, () => first.user({ freeLimit: 1000 })))
})

const say = async (
  luck: Luck,
  user: TestUser,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const node = luck.pick(nodes)!
  const answer = await node.call(method, path, { token: user.token, ...(body === undefined ? {} : { body }) })
  log.push(`${method} ${path} ${JSON.stringify(body) ?? ""} -> ${answer.status} ${answer.body?.error ?? ""}`)
  return answer
}
const entities = (kind: string, statuses: ReadonlyArray<string>) =>
  nodes[0]!.sql<{ id: string; owner_id: string; peer_id: string; status: string }[]>`
    select id, owner_id, peer_id, status from entity where kind = ${kind} and status = any(${[...statuses]})
     order by created_at, id`
const userOf = (id: string) => users.find((user) => user.id === id)

const buy = async (luck: Luck) => {
  const user = luck.pick(users)!
  const boxes = await entities("lootbox", ["Available"])
  const box = luck.chance(0.3) ? luck.pick(boxes) : undefined
  const item = box === undefined ? { emoji_id: luck.pick(ids) } : { lootbox_id: box.id }
  await say(luck, user, "POST", "/cart", { items: [item] })
  const method = luck.chance(0.5) ? "Free" : "CryptoCommerce"
  const order = await say(luck, user, "POST", "/cart/checkout", { method })
  if (order.body?.status !== "PendingPayment") return
  const ends = [
    () => say(luck, admin, "POST", `/cart/checkout/${order.body.id}`, { method: "Cash" }),
    () => say(luck, user, "POST", "/cart/convert_to_draft"),
    () => say(luck, user, "DELETE", "/cart"),
    () => Promise.resolve(),
  ]
  await luck.pick(ends)?.()
}
const dropCart = (luck: Luck) => say(luck, luck.pick(users)!, "DELETE", "/cart")

/** Mostly what somebody owns, by its owner; now and then what is not theirs to send. */
const send = async (luck: Luck) => {
  const owned = await nodes[0]!.sql<{ canonical: string; owner_id: string }[]>`
    select canonical, owner_id from claim where kind = 'owned' order by canonical`
  const choice = luck.chance(0.8) ? luck.pick(owned) : undefined
  const forced = luck.chance(0.2)
  const user = userOf(choice?.owner_id ?? "") ?? luck.pick(users)!
  await say(luck, forced ? admin : user, "POST", "/transfers", {
    eid: choice?.canonical ?? luck.pick(ids),
    email: luck.pick(users)!.email,
    clear_on_transfer: luck.chance(0.5),
    force_transfer: forced,
  })
}
const accept = async (luck: Luck) => {
  const transfer = luck.pick(await entities("transfer", ["AwaitingSender", "AwaitingReceiver"]))
  if (transfer === undefined) return
  const side = transfer.status === "AwaitingSender" ? "sender" : "receiver"
  const party = userOf(side === "sender" ? transfer.owner_id : transfer.peer_id)
  if (party === undefined) return
  const code = luck.chance(0.1) ? "000000" : await codeFor(nodes[0]!, party.email, transfer.id)
  await say(luck, party, "POST", `/transfers/${transfer.id}/${side}_accept`, { code })
}
const takeBack = async (luck: Luck) => {
  const transfer = luck.pick(await entities("transfer", ["AwaitingSender", "AwaitingReceiver"]))
  const party = transfer && userOf(luck.chance(0.5) ? transfer.owner_id : transfer.peer_id)
  if (party !== undefined) await say(luck, party, "DELETE", `/transfers/${transfer!.id}`)
}

const makeBox = async (luck: Luck) => {
  const status = luck.pick(["Draft", "Available", "Available", "Owned", "Used"])!
  const owner = status === "Owned" || status === "Used" ? { owner_id: luck.pick(users)!.id } : {}
  const yats = [...new Set([luck.pick(ids)!, luck.pick(ids)!])]
  await say(luck, admin, "POST", "/lootboxes", { status, yats, ...owner })
}
const changeBox = async (luck: Luck) => {
  const box = luck.pick(await entities("lootbox", ["Draft", "Available"]))
  if (box === undefined) return
  const path = `/lootboxes/${box.id}`
  const changes = [
    () => say(luck, admin, "DELETE", path),
    () => say(luck, admin, "PATCH", path, { yats: [luck.pick(ids)] }),
    () => say(luck, admin, "PATCH", path, { status: "Available" }),
    () => say(luck, admin, "PATCH", path, { status: "Owned", owner_id: luck.pick(users)!.id }),
  ]
  await luck.pick(changes)?.()
}
const openBox = async (luck: Luck) => {
  const box = luck.pick(await entities("lootbox", luck.chance(0.8) ? ["Owned"] : ["Used"]))
  const owner = box && userOf(box.owner_id)
  if (owner !== undefined) await say(luck, owner, "POST", `/lootboxes/${box!.id}/open`)
}

/** Ids go out of the directory, so that the walk never runs out of free ones. */
const destroy = async (luck: Luck) => {
  const [row] = await nodes[0]!.sql`select destroy_emoji_id(${luck.pick(ids)!}) as said`
  log.push(`destroy -> ${JSON.stringify(row?.["said"]?.outcome)}`)
}
/** Time passes for a transfer and for a cart: whatever has a deadline then has reached it. */
const expire = async (luck: Luck) => {
  const { sql } = nodes[0]!
  await sql`update emoji_id set blocked_until = null where blocked_until is not null`
  const transfer = luck.pick(await entities("transfer", ["AwaitingSender", "AwaitingReceiver"]))
  if (transfer !== undefined && luck.chance(0.3)) await age(nodes[0]!, transfer.id, 8 * 86_400)
  const order = luck.pick(await entities("order", ["PendingPayment"]))
  if (order !== undefined) {
    await sql`update entity set due_at = now(), version = version + 1,
                     state = jsonb_set(state, '{context,checkout,expiresAt}', to_jsonb(wire_time(now())))
               where kind = 'order' and id = ${order.id} and status = 'PendingPayment'`
  }
  const sweep = Effect.flatMap(Deadlines, (deadlines) => deadlines.sweep)
  await luck.pick(nodes)!.runtime.runPromise(sweep)
}

const steps = [buy, buy, buy, dropCart, send, send, accept, accept, accept, accept, takeBack]
const boxSteps = [makeBox, makeBox, changeBox, openBox, openBox, destroy, expire]

describe(`a random walk (WALK_SEED=${walkSeed})`, () => {
  it("of buyers, senders, openers and administrators over a few ids keeps every invariant", async () => {
    const check = async () => expect(await findOffences(nodes[0]!.sql)).toEqual([])
    await takeWalk({ rounds, actorsAtOnce, steps: [...steps, ...boxSteps], check, log })
    expect(log.filter((line) => / -> 5\d\d /.test(line))).toEqual([])
    // A walk that goes nowhere proves nothing.
    expect(log.filter((line) => / -> 200 /.test(line)).length).toBeGreaterThan(rounds)
  }, 90_000)
})

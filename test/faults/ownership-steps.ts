import type postgres from "postgres"
import type { Answer, TestService, TestUser } from "../fixtures/service.ts"
import type { Luck } from "../fixtures/walk.ts"
import { age, codeFor } from "../transfers/transfer-service.ts"

/** The users, the ids and the actions that the steps of a random walk use. */
export interface Ground {
  /** The service whose database and mail the steps read. */
  readonly home: TestService
  readonly sql: postgres.Sql
  readonly admin: TestUser
  readonly users: ReadonlyArray<TestUser>
  readonly ids: ReadonlyArray<string>
  say(luck: Luck, user: TestUser, method: string, path: string, body?: unknown): Promise<Answer>
  /** Submits the page of a sandbox checkout with this action. */
  pay(luck: Luck, session: string, action: string): Promise<unknown>
  /** Runs a deadline sweep. */
  sweep(luck: Luck): Promise<unknown>
}

const activeStates = ["AwaitingSender", "AwaitingReceiver"] as const

/** Creates the random steps with ids, lootboxes and carts. */
export const makeSteps = ({ admin, home, ids, pay, say, sql, sweep, users }: Ground) => {
  const entities = (kind: string, statuses: ReadonlyArray<string>) =>
    sql<{ id: string; owner_id: string; peer_id: string; status: string }[]>`
      select id, owner_id, peer_id, status from entity where kind = ${kind} and status = any(${[...statuses]})
       order by created_at, id`
  const userOf = (id: string) => users.find((user) => user.id === id)

  /** Usually picks an owned id and its owner, and sometimes any id and any user. */
  const pickId = async (luck: Luck) => {
    const owned = await sql<{ canonical: string; owner_id: string }[]>`
      select canonical, owner_id from claim where kind = 'owned' and canonical = any(${[...ids]}) order by canonical`
    const choice = luck.chance(0.8) ? luck.pick(owned) : undefined
    return {
      id: choice?.canonical ?? luck.pick(ids)!,
      user: userOf(choice?.owner_id ?? "") ?? luck.pick(users)!,
    }
  }

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
  /** Pays an order, usually a pending one, and sometimes one that has ended. */
  const payOrder = async (luck: Luck) => {
    const statuses = luck.chance(0.8) ? ["PendingPayment"] : ["Cancelled", "Paid"]
    const sessions = await sql<{ session: string }[]>`
      select state->'context'->'intent'->>'sessionId' as session from entity
       where kind = 'order' and status = any(${statuses}) and state->'context'->'intent'->>'sessionId' is not null
       order by created_at, id`
    const session = luck.pick(sessions)?.session
    if (session !== undefined)
      await pay(luck, session, luck.pick(["pay", "pay", "pay", "underpay", "overpay"])!)
  }
  const refund = async (luck: Luck) => {
    const order = luck.pick(await entities("order", ["Paid", "Cancelled"]))
    if (order !== undefined) await say(luck, admin, "POST", `/orders/${order.id}/refund`, {})
  }
  const dropCart = (luck: Luck) => say(luck, luck.pick(users)!, "DELETE", "/cart")

  const send = async (luck: Luck) => {
    const { id, user } = await pickId(luck)
    const forced = luck.chance(0.2)
    const to = luck.pick(users)!
    const [key] = luck.chance(0.3)
      ? await sql<{ pubkey: string }[]>`
          select pubkey from pubkey where user_id = ${to.id} order by created_at desc limit 1`
      : []
    await say(luck, forced ? admin : user, "POST", "/transfers", {
      eid: id,
      ...(key === undefined ? { email: to.email } : { pubkey: key.pubkey }),
      clear_on_transfer: luck.chance(0.5),
      force_transfer: forced,
    })
  }
  const accept = async (luck: Luck) => {
    const transfer = luck.pick(await entities("transfer", activeStates))
    if (transfer === undefined) return
    const side = transfer.status === "AwaitingSender" ? "sender" : "receiver"
    const party = userOf(side === "sender" ? transfer.owner_id : transfer.peer_id)
    if (party === undefined) return
    const code = luck.chance(0.1) ? "000000" : await codeFor(home, party.email, transfer.id)
    await say(luck, party, "POST", `/transfers/${transfer.id}/${side}_accept`, { code })
  }
  const takeBack = async (luck: Luck) => {
    const transfer = luck.pick(await entities("transfer", activeStates))
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

  const register = (luck: Luck) =>
    say(luck, admin, "POST", "/emoji_id", { emoji_id: luck.pick(ids), user_id: luck.pick(users)!.id })
  /** Removes an id from the directory, so that free ids remain during the whole walk. */
  const destroy = (luck: Luck) =>
    say(luck, admin, "DELETE", `/emoji_id/${encodeURIComponent(luck.pick(ids)!)}`)

  const edit = async (luck: Luck) => {
    const { id, user } = await pickId(luck)
    const [known] = await sql<{ hash: string }[]>`
      select hash from record where canonical = ${id} order by hash limit 1`
    const remove = known !== undefined && luck.chance(0.3) ? { delete: [known.hash] } : {}
    const text = `${luck.below(1e9)}`
    await say(luck, user, "PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
      insert: [
        luck.pick([
          { tag: "0x5001", data: text },
          { tag: "0x0005", data: text },
        ]),
      ],
      ...remove,
    })
  }
  const store = async (luck: Luck) => {
    const { id, user } = await pickId(luck)
    const key = luck.pick(["SvcPageData", "SvcLinkData"])
    await say(luck, user, "POST", `/emoji_id/${encodeURIComponent(id)}/json/${key}`, {
      data: luck.below(1e9),
      linked_tags: luck.chance(0.5) ? [{ tag: "0x4001", data: `https://x.example/${luck.below(5)}` }] : [],
    })
  }
  const addKey = (luck: Luck) => say(luck, luck.pick(users)!, "POST", "/pubkeys")
  const permitMint = async (luck: Luck) => {
    const { id, user } = await pickId(luck)
    const account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
    await say(luck, user, "POST", `/emoji_id/${encodeURIComponent(id)}/generate_signature`, { account })
  }

  /**
   * Ends the blocks after transfers and the mint permissions. Moves the deadline of a pending order, and sometimes that
   * of a transfer, into the past. Then runs a sweep.
   */
  const expire = async (luck: Luck) => {
    await sql`update emoji_id set blocked_until = null, mint_until = null
               where blocked_until is not null or mint_until is not null`
    const transfer = luck.pick(await entities("transfer", activeStates))
    if (transfer !== undefined && luck.chance(0.3)) await age({ sql }, transfer.id, 8 * 86_400)
    const order = luck.pick(await entities("order", ["PendingPayment"]))
    if (order !== undefined) {
      await sql`update entity set due_at = now(), version = version + 1,
                       state = jsonb_set(state, '{context,checkout,expiresAt}', to_jsonb(wire_time(now())))
                 where kind = 'order' and id = ${order.id} and status = 'PendingPayment'`
    }
    await sweep(luck)
  }

  return [
    ...[buy, buy, buy, dropCart, send, send, accept, accept, accept, accept, takeBack],
    ...[makeBox, makeBox, changeBox, openBox, openBox, register, destroy, destroy, expire],
    ...[edit, edit, store, permitMint, addKey, payOrder, payOrder, refund],
  ]
}

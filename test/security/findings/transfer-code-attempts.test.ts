import { describe, expect, it } from "vitest"
import { createDatabase } from "../../fixtures/database.ts"
import { type CallOptions, serve, type TestUser } from "../../fixtures/service.ts"
import { codeFor, grant, makeIds } from "../../transfers/transfer-service.ts"

const database = await createDatabase()
const service = await serve({}, { database, peersPossible: true })
const otherProcess = await serve({}, { database, peersPossible: true })
const nextId = makeIds()

const newOwner = async () => {
  const [owner, eid] = [await service.user(), nextId()]
  await grant(service, owner, eid)
  return { owner, eid }
}
const create = async (owner: TestUser, eid: string, email = "receiver@example.com") => {
  const { body, status } = await service.call("POST", "/transfers", {
    token: owner.token,
    body: { eid, email },
  })
  expect(status).toBe(200)
  return body.id as string
}
const enter = (id: string, code: string, as: CallOptions, side = "sender", through = service) =>
  through.call("POST", `/transfers/${id}/${side}_accept`, { ...as, body: { code } })
const wrongFor = (code: string) => (code === "000000" ? "000001" : "000000")

/** Enters wrong codes for new transfers of the id, at most four per transfer. Returns the statuses. */
const guess = async (owner: TestUser, eid: string, times: number) => {
  const statuses: Array<number> = []
  while (statuses.length < times) {
    const id = await create(owner, eid)
    const wrong = wrongFor(await codeFor(service, owner.email, id))
    for (let n = 0; n < 4 && statuses.length < times; n++)
      statuses.push((await enter(id, wrong, { token: owner.token })).status)
    await service.call("DELETE", `/transfers/${id}`, { token: owner.token })
  }
  return statuses
}
const many = (count: number, status: number) => Array.from({ length: count }, () => status)

describe("wrong codes of transfers", () => {
  it("count for the id across deleted and new transfers: after ten, even the right code gets 429", async () => {
    const { eid, owner } = await newOwner()
    expect(await guess(owner, eid, 12)).toEqual([...many(10, 422), 429, 429])
    const id = await create(owner, eid)
    const right = await codeFor(service, owner.email, id)
    const refused = await enter(id, right, { token: owner.token })
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_requests"])
    expect(refused.body.error).toContain("10 wrong codes were entered for transfers of this emoji id")
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)

    await service.sql`update wrong_transfer_code set at = at - interval '24 hours' where user_id = ${owner.id}`
    expect((await enter(id, right, { token: owner.token })).status).toBe(200)
  })

  it("count for all ids of the user: after twenty, another id gets 429", async () => {
    const { eid, owner } = await newOwner()
    const [second, third] = [nextId(), nextId()]
    for (const id of [second, third]) await grant(service, owner, id)
    expect(await guess(owner, eid, 10)).toEqual(many(10, 422))
    expect(await guess(owner, second, 10)).toEqual(many(10, 422))
    expect(await guess(owner, third, 1)).toEqual([429])
  })

  it("count exactly when fifty are entered at once, with several API keys and in two processes", async () => {
    const owner = await service.user()
    const keys: Array<CallOptions> = []
    for (const name of ["one", "two"]) {
      const body = { name, sensitive: true }
      const made = await service.call("POST", "/api_keys", { token: owner.token, body })
      keys.push({ headers: { "x-api-key": made.body.api_key } })
    }
    const transfers: Array<string> = []
    for (let n = 0; n < 10; n++) {
      const eid = nextId()
      await grant(service, owner, eid)
      transfers.push(await create(owner, eid))
    }
    const attempts = transfers.flatMap((id, i) =>
      Array.from({ length: 5 }, (_, n) => async () => {
        const wrong = wrongFor(await codeFor(service, owner.email, id))
        const through = i % 2 === 0 ? service : otherProcess
        return (await enter(id, wrong, keys[n % 2]!, "sender", through)).status
      }),
    )
    const statuses = await Promise.all(attempts.map((attempt) => attempt()))
    expect(statuses.toSorted()).toEqual([...many(20, 422), ...many(30, 429)])
  })

  it("of the recipient do not use up the attempts of the sender, and those of strangers count for nobody", async () => {
    const { eid, owner } = await newOwner()
    const [recipient, stranger] = [await service.user(), await service.user()]
    const id = await create(owner, eid, recipient.email)
    await enter(id, await codeFor(service, owner.email, id), { token: owner.token })
    const right = await codeFor(service, recipient.email, id)
    for (let n = 0; n < 12; n++)
      expect((await enter(id, wrongFor(right), { token: stranger.token }, "receiver")).status).toBe(404)
    for (let n = 0; n < 4; n++)
      expect((await enter(id, wrongFor(right), { token: recipient.token }, "receiver")).status).toBe(422)
    const counted = await service.sql`select user_id, count(*)::int from wrong_transfer_code
                                       where eid = ${eid} group by user_id`
    expect(counted).toEqual([{ user_id: recipient.id, count: 4 }])
    expect((await enter(id, right, { token: recipient.token }, "receiver")).status).toBe(200)
  })

  it("do not include correct codes, also if the transfer is refused for another reason", async () => {
    const { eid, owner } = await newOwner()
    const recipient = await service.user()
    const id = await create(owner, eid, recipient.email)
    await enter(id, await codeFor(service, owner.email, id), { token: owner.token })
    const right = await codeFor(service, recipient.email, id)
    await service.sql`update app_user set deactivated_at = now() where id = ${owner.id}`
    for (let n = 0; n < 11; n++)
      expect((await enter(id, right, { token: recipient.token }, "receiver")).status).toBe(409)
    expect(await service.sql`select 1 from wrong_transfer_code where eid = ${eid}`).toEqual([])
  })
})

describe("the rate limit of codes", () => {
  it("counts all API keys and sessions of a user together", async () => {
    const limited = await serve({ RATE_LIMIT: "on" })
    const user = await limited.user()
    const key = async (name: string) => {
      const made = await limited.call("POST", "/api_keys", { token: user.token, body: { name } })
      return { headers: { "x-api-key": made.body.api_key as string } }
    }
    const credentials: ReadonlyArray<CallOptions> = [
      { token: user.token },
      await key("one"),
      await key("two"),
    ]
    const statuses: Array<number> = []
    for (let n = 0; n < 61; n++) {
      const as = credentials[n % credentials.length]!
      statuses.push((await limited.call("POST", "/cart/promo_code", { ...as, body: { code: "X" } })).status)
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect(statuses.at(-1)).toBe(429)
  })
})

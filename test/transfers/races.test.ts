import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { age, claimOf, codeFor, eventTypes, grant, makeIds, ownerOf } from "./transfer-service.ts"

const nextId = makeIds(40_000)
const rounds = 8
let nodes: readonly [TestService, TestService]
let sender: TestUser
let recipient: TestUser

beforeAll(async () => {
  const environment = { SWEEP_INTERVAL_MS: "60000" }
  const first = await serve(environment, { peersPossible: true })
  nodes = [first, await serve(environment, { database: first.database, peersPossible: true })]
  sender = await first.user()
  recipient = await first.user()
})

/** The number of requests so far. Requests are sent alternately to the two processes. */
let turn = 0
const call = (method: string, path: string, user: TestUser, body?: unknown) =>
  nodes[turn++ % 2 === 0 ? 0 : 1].call(method, path, { token: user.token, ...(body ? { body } : {}) })

const confirmed = async () => {
  const eid = nextId()
  await grant(nodes[0], sender, eid)
  const { body } = await call("POST", "/transfers", sender, { eid, email: recipient.email })
  const code = await codeFor(nodes[0], sender.email)
  await call("POST", `/transfers/${body.id}/sender_accept`, sender, { code })
  return { eid, id: body.id as string, code: await codeFor(nodes[0], recipient.email) }
}
const receive = (id: string, code: string) =>
  call("POST", `/transfers/${id}/receiver_accept`, recipient, { code })

/**
 * Reads the state of a transfer, and the owner and claim of its id. `moves` counts the events that move the id, `ends`
 * the events that end the transfer without a move.
 */
const storyOf = async (id: string, eid: string) => {
  const [row] = await nodes[0].sql`select status from entity where kind = 'transfer' and id = ${id}`
  const claim = await claimOf(nodes[0], eid)
  const events = await eventTypes(nodes[0], `transfer:${id}`)
  return {
    status: row?.["status"] as string,
    owner: await ownerOf(nodes[0], eid),
    claim: claim?.kind,
    holder: claim?.holder,
    moves: events.filter((type) => type === "transfer.accepted").length,
    ends: events.filter((type) => type === "transfer.deleted" || type === "transfer.expired").length,
  }
}
const movedStory = () => ({
  status: "Accepted",
  owner: recipient.id,
  claim: "owned",
  holder: recipient.id,
  moves: 1,
  ends: 0,
})
const deletedStory = () => ({
  status: "Deleted",
  owner: sender.id,
  claim: "owned",
  holder: sender.id,
  moves: 0,
  ends: 1,
})

describe("with concurrent requests to two processes,", () => {
  it("one of twenty acceptances moves the id, and the other nineteen get 409 with the state `Accepted`", async () => {
    const { code, eid, id } = await confirmed()
    const answers = await Promise.all(Array.from({ length: 20 }, () => receive(id, code)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(won[0]?.body).toEqual([eid])
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect([answer.status, answer.body.state]).toEqual([409, "Accepted"])
    }
    expect(await storyOf(id, eid)).toEqual(movedStory())
  })

  it("a receiver's acceptance with a wrong code does not disturb the sender's acceptance", async () => {
    for (let round = 0; round < rounds; round++) {
      const eid = nextId()
      await grant(nodes[0], sender, eid)
      const { body } = await call("POST", "/transfers", sender, { eid, email: recipient.email })
      const code = await codeFor(nodes[0], sender.email)
      const [first, early] = await Promise.all([
        call("POST", `/transfers/${body.id}/sender_accept`, sender, { code }),
        receive(body.id, "123456"),
      ])
      expect(first.status).toBe(200)
      expect([409, 422]).toContain(early.status)
      expect((await receive(body.id, await codeFor(nodes[0], recipient.email))).status).toBe(200)
      expect(await storyOf(body.id, eid)).toEqual(movedStory())
    }
  })

  it("an acceptance and a deletion of one transfer either move or return the id, never both", async () => {
    const stories: Array<string> = []
    for (let round = 0; round < rounds; round++) {
      const { code, eid, id } = await confirmed()
      const [accepted, deleted] = await Promise.all([
        receive(id, code),
        call("DELETE", `/transfers/${id}`, round % 2 === 0 ? sender : recipient),
      ])
      expect([accepted.status, deleted.status].toSorted()).toEqual([200, 409])
      const story = await storyOf(id, eid)
      expect(story).toEqual(accepted.status === 200 ? movedStory() : deletedStory())
      stories.push(story.status)
    }
    expect(stories).toHaveLength(rounds)
  })

  it("a request to resend the code during the acceptance is refused, or it invalidates the old code", async () => {
    for (let round = 0; round < rounds; round++) {
      const { code, eid, id } = await confirmed()
      await age(nodes[0], id, 90)
      const [accepted, resent] = await Promise.all([
        receive(id, code),
        call("POST", `/transfers/${id}/resend_code`, recipient),
      ])
      if (accepted.status === 200) expect(resent.status).toBe(409)
      else {
        expect([accepted.status, resent.status]).toEqual([422, 200])
        expect((await receive(id, await codeFor(nodes[0], recipient.email))).status).toBe(200)
      }
      expect(await storyOf(id, eid)).toEqual(movedStory())
    }
  })

  it("twenty requests to transfer one id create one transfer", async () => {
    const eid = nextId()
    await grant(nodes[0], sender, eid)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call("POST", "/transfers", sender, { eid, email: recipient.email })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
  })

  it("wrong codes in both processes share the limit of five tries", async () => {
    const { code, id } = await confirmed()
    const guess = code === "000000" ? "000001" : "000000"
    const answers = await Promise.all(Array.from({ length: 20 }, () => receive(id, guess)))
    const kinds = answers.map(({ body }) => body.fields?.code[0].code)
    expect(kinds.filter((kind) => kind === "invalid")).toHaveLength(5)
    expect(kinds.filter((kind) => kind === "too_many_tries")).toHaveLength(15)
    expect((await receive(id, code)).status).toBe(422)
  })
})

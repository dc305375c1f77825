import { Effect } from "effect"
import { afterEach, expect, it } from "vitest"
import { type EmojiId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { InterestNotices } from "../../src/market/interest-notices.ts"
import { serve, type TestUser } from "../fixtures/service.ts"
import { mails, makeIds } from "../transfers/transfer-service.ts"

// The service sends notices in rounds. With this long interval it rarely starts a round. The tests start the rounds.
const service = await serve({ SWEEP_INTERVAL_MS: "60000" })
const admin = await service.user({ role: "Admin" })
const nextId = makeIds(151_000)
const length = 5

const holdBack = async (lengths: Record<string, ReadonlyArray<number>>) => {
  const { body } = await service.call("GET", "/price_parameters", { token: admin.token })
  const answer = await service.call("PUT", "/price_parameters", {
    token: admin.token,
    body: { ...body, coming_soon_lengths: [], unpriced_lengths: [], ...lengths },
  })
  expect(answer.status).toBe(200)
}
afterEach(() => holdBack({}))

const interested = async (emoji_id: string) => {
  const user = await service.user()
  await service.call("POST", "/user_interests", { token: user.token, body: { emoji_id } })
  return user
}
const noticesOf = async ({ email }: TestUser) => {
  await service.runtime.runPromise(Effect.flatMap(InterestNotices, (notices) => notices.round))
  const notices = (await mails(service, email)).filter(({ kind }) => kind === "interest_available")
  return notices.map(({ data }) => data["emoji_id"])
}

it.each(["coming_soon_lengths", "unpriced_lengths"])(
  "a user with an interest in an id is notified when the id's length is removed from `%s`",
  async (name) => {
    await holdBack({ [name]: [length] })
    const id = nextId()
    const user = await interested(id)
    expect(await noticesOf(user)).toEqual([])
    await holdBack({ [name]: [1] })
    expect(await noticesOf(user)).toEqual([id])
  },
)

it("removing a length from `coming_soon_lengths` causes no notice about a claimed id or an id already for sale", async () => {
  await holdBack({ coming_soon_lengths: [1, length] })
  const taken = nextId()
  const user = await interested(taken)
  await service.call("POST", "/lootboxes", { token: admin.token, body: { status: "Draft", yats: [taken] } })
  await holdBack({ coming_soon_lengths: [1] })
  const free = await interested(nextId())
  await holdBack({})
  expect([await noticesOf(user), await noticesOf(free)]).toEqual([[], []])
})

it("a free id is not announced while its length is in `coming_soon_lengths`", async () => {
  const id = nextId()
  const user = await interested(id)
  const { body: box } = await service.call("POST", "/lootboxes", {
    token: admin.token,
    body: { status: "Draft", yats: [id] },
  })
  await holdBack({ coming_soon_lengths: [length] })
  await service.call("DELETE", `/lootboxes/${box.id}`, { token: admin.token })
  expect(await noticesOf(user)).toEqual([])
  await holdBack({})
  expect(await noticesOf(user)).toEqual([id])
})

it.each(["coming_soon_lengths", "unpriced_lengths"])(
  "generated lootboxes contain no ids whose length is in `%s`",
  async (name) => {
    const bounds = { min_base_score: 1, max_base_score: 100, guarantees: [], weights: [] }
    const makeType = async (min_length: number, max_length: number) => {
      const config = { ...bounds, size: 20, min_length, max_length }
      const { body } = await service.call("POST", "/lootbox_type", {
        token: admin.token,
        body: { name: "Mixed", description: "", config },
      })
      return body.id
    }
    const fill = (loot_box_type_id: string) =>
      service.call("POST", "/lootbox_type/generate", {
        token: admin.token,
        body: { loot_box_type_id, num_boxes: 2 },
      })
    const [mixed, none] = [await makeType(4, 6), await makeType(length, length)]
    await holdBack({ [name]: [length] })
    const { body } = await fill(mixed)
    const ids: ReadonlyArray<string> = body.loot_boxes.flatMap((box: { yats: string[] }) => box.yats)
    const lengths = new Set(ids.map((id) => (parseEmojiId(id) as EmojiId).length))
    expect([...lengths].sort()).toEqual([4, 6])
    const refused = await fill(none)
    expect([refused.status, refused.body.fields?.loot_box_type_id[0].code]).toEqual([422, "eligibility"])
  },
)

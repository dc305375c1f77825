import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { age, claimOf, codeFor, eventTypes, grant, mails, makeIds, ownerOf } from "./transfer-service.ts"

const nextId = makeIds()
let service: TestService
let sender: TestUser
let recipient: TestUser
let stranger: TestUser
let admin: TestUser

beforeAll(async () => {
  // `peersPossible` makes the service read the database, because the tests change rows directly.
  service = await serve({ SWEEP_INTERVAL_MS: "60000" }, { peersPossible: true })
  ;[sender, recipient, stranger, admin] = await Promise.all([
    service.user(),
    service.user(),
    service.user(),
    service.user({ role: "Admin" }),
  ])
})

const begin = async (facts: Record<string, unknown> = {}, token = sender.token) => {
  const eid = nextId()
  await grant(service, sender, eid)
  const answer = await service.call("POST", "/transfers", {
    token,
    body: { eid, email: recipient.email, clear_on_transfer: false, force_transfer: false, ...facts },
  })
  return { eid, answer, id: answer.body?.id as string }
}
const act = (id: string, action: string, user: TestUser, code?: string) =>
  service.call("POST", `/transfers/${id}/${action}`, {
    token: user.token,
    ...(code === undefined ? {} : { body: { code } }),
  })
/** Creates a transfer that the sender has confirmed. */
const confirmed = async (facts: Record<string, unknown> = {}) => {
  const transfer = await begin(facts)
  const answer = await act(transfer.id, "sender_accept", sender, await codeFor(service, sender.email))
  expect(answer.status).toBe(200)
  return { ...transfer, answer }
}
const wrong = (code: string) => (code === "000000" ? "000001" : "000000")

describe("a transfer", () => {
  it("moves the id when both parties have entered their codes", async () => {
    const { answer, eid, id } = await begin({ message: "for you" })
    expect(answer.body).toMatchObject({
      eid,
      email: recipient.email,
      recipient_id: recipient.id,
      clear_on_transfer: false,
      message: "for you",
      status: "AwaitingSender",
    })
    expect(JSON.stringify(answer.body)).not.toMatch(/hash|[Cc]ode"/)
    expect(await claimOf(service, eid)).toEqual({ kind: "transfer", holder: id, owner_id: sender.id })
    expect((await mails(service, recipient.email)).some(({ data }) => data["eid"] === eid)).toBe(false)

    const half = await act(id, "sender_accept", sender, await codeFor(service, sender.email))
    expect(half.body).toMatchObject({
      status: "AwaitingReceiver",
      sender_code_accepted_at: expect.any(String),
    })
    expect(await ownerOf(service, eid)).toBe(sender.id)

    const done = await act(id, "receiver_accept", recipient, await codeFor(service, recipient.email))
    expect(done.status).toBe(200)
    expect(done.body).toEqual([eid])
    expect(await ownerOf(service, eid)).toBe(recipient.id)
    expect(await claimOf(service, eid)).toEqual({
      kind: "owned",
      holder: recipient.id,
      owner_id: recipient.id,
    })
    const [row] = await service.sql`
      select e.blocked_until > now() + interval '23 hours' as blocked, e.version, k.user_id, k.sealed_key is not null as custodial
        from emoji_id e join pubkey k using (pubkey) where canonical = ${eid}`
    expect(row).toMatchObject({ blocked: true, version: 2, user_id: recipient.id, custodial: true })
    expect(await eventTypes(service, `transfer:${id}`)).toEqual([
      "transfer.created",
      "transfer.sender_accepted",
      "transfer.accepted",
    ])
    expect(await eventTypes(service, `emoji_id:${eid}`)).toEqual(["emoji_id.owner"])
    expect(await eventTypes(service, `transfers:${recipient.id}`)).toContain("transfer.accepted")
    expect((await mails(service, sender.email))[0]).toMatchObject({
      kind: "transfer_accepted",
      data: { eid },
    })
  })

  it("answers 409 with the state and the allowed operations if the state does not allow an operation", async () => {
    const { id } = await confirmed()
    const again = await act(id, "sender_accept", sender, "123456")
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      error: "The transfer is in state AwaitingReceiver, which does not allow sender_accept.",
      state: "AwaitingReceiver",
      allowed: ["receiver_accept", "resend_code", "delete"],
    })
  })

  it("clears the records only if the request sets `clear_on_transfer`", async () => {
    const moved: Array<number> = []
    for (const clear_on_transfer of [true, false]) {
      const { eid, id } = await confirmed({ clear_on_transfer })
      await service.sql`insert into record (canonical, hash, tag, data) values (${eid}, 'h', 16387, 'x')`
      await act(id, "receiver_accept", recipient, await codeFor(service, recipient.email))
      const rows = await service.sql`select 1 from record where canonical = ${eid}`
      moved.push(rows.length)
    }
    expect(moved).toEqual([0, 1])
  })

  it("is refused for an id that has an active transfer, and for an id that is blocked after a transfer", async () => {
    const { eid, id } = await confirmed()
    const body = { eid, email: stranger.email }
    const second = await service.call("POST", "/transfers", { token: sender.token, body })
    expect([second.status, second.body.code]).toEqual([409, "conflict"])
    await act(id, "receiver_accept", recipient, await codeFor(service, recipient.email))

    const gone = await service.call("POST", "/transfers", { token: sender.token, body })
    expect(gone.status).toBe(404)
    const early = await service.call("POST", "/transfers", { token: recipient.token, body })
    expect(early.status).toBe(409)
    expect(Date.parse(early.body.blocked_until)).toBeGreaterThan(0)
    await service.sql`update emoji_id set blocked_until = now() where canonical = ${eid}`
    const later = await service.call("POST", "/transfers", { token: recipient.token, body })
    expect(later.status).toBe(200)
  })

  it("to an unknown email address creates one invited account, and mails the invitation after the sender confirms", async () => {
    const email = "New.Person@Example.com"
    const { answer, id } = await begin({ email })
    const again = await begin({ email: email.toLowerCase() })
    expect(answer.body.email).toBe("new.person@example.com")
    expect(again.answer.body.recipient_id).toBe(answer.body.recipient_id)
    expect(await mails(service, "new.person@example.com")).toEqual([])
    const [user] = await service.sql`
      select invited_at is not null as invited, password_hash from app_user where id = ${answer.body.recipient_id}`
    expect(user).toEqual({ invited: true, password_hash: null })
    const codes = (await mails(service, sender.email)).filter(({ data }) => data["transfer_id"] === id)
    await act(id, "sender_accept", sender, String(codes[0]?.data["code"]))
    expect(await mails(service, "new.person@example.com")).toMatchObject([{ kind: "transfer_invitation" }])
  })

  it("to a pubkey goes to the owner of the key, and binds the id to that key", async () => {
    const pubkey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    const holder = await service.user()
    await service.sql`insert into pubkey (pubkey, user_id, created_at) values
      ('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', ${holder.id}, now() - interval '1 day'),
      (${pubkey}, ${holder.id}, now())`
    const { answer, eid, id } = await begin({ email: null, pubkey: pubkey.toUpperCase() })
    expect(answer.body).toMatchObject({ recipient_id: holder.id })
    await act(id, "sender_accept", sender, await codeFor(service, sender.email))
    await act(id, "receiver_accept", holder, await codeFor(service, holder.email))
    const [row] = await service.sql`select pubkey from emoji_id where canonical = ${eid}`
    expect(row?.["pubkey"]).toBe(pubkey)
  })

  it("to a pubkey does not reveal the email address of the key's owner to the sender", async () => {
    const holder = await service.user()
    const pubkey = "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e"
    await service.sql`insert into pubkey (pubkey, user_id) values (${pubkey}, ${holder.id})`
    const { answer, id } = await begin({ email: null, pubkey })
    expect(answer.body.recipient_id).toBe(holder.id)
    expect(answer.text).not.toContain(holder.email)
    await act(id, "sender_accept", sender, await codeFor(service, sender.email))
    await act(id, "receiver_accept", holder, await codeFor(service, holder.email))
    const listed = await service.call("GET", "/transfers", { token: sender.token })
    expect(listed.text).toContain(id)
    expect(listed.text).not.toContain(holder.email)
    const senderMails = (await mails(service, sender.email)).filter(({ data }) => data["transfer_id"] === id)
    expect(senderMails.map(({ kind }) => kind).sort()).toEqual(["transfer_accepted", "transfer_sender_code"])
    for (const { data } of senderMails) expect(data["recipient"]).toBe(pubkey)
  })

  it("that an administrator forces needs the receiver's code, but not the sender's code", async () => {
    const refused = await begin({ force_transfer: true })
    expect([refused.answer.status, refused.answer.body.scope]).toEqual([403, "adminEmoji:transfer"])

    const { answer, eid, id } = await begin({ force_transfer: true }, admin.token)
    expect(answer.body.status).toBe("AwaitingReceiver")
    expect(answer.body.sender_code_accepted_at).toBeUndefined()
    expect(answer.body.sender_id).toBe(sender.id)
    expect((await act(id, "receiver_accept", admin, "123456")).status).toBe(403)
    await act(id, "receiver_accept", recipient, await codeFor(service, recipient.email))
    expect(await ownerOf(service, eid)).toBe(recipient.id)
  })
})

describe("a request for a transfer", () => {
  const fieldCode = (
    answer: { body: { fields?: Record<string, ReadonlyArray<{ code: string }>> } },
    name: string,
  ) => answer.body.fields?.[name]?.[0]?.code

  it("requires exactly one recipient, who is not the owner", async () => {
    const none = await begin({ email: null })
    expect([none.answer.status, fieldCode(none.answer, "email")]).toEqual([422, "required"])
    const both = await begin({ pubkey: "00" })
    expect(fieldCode(both.answer, "pubkey")).toBe("exclusive")
    const self = await begin({ email: ` ${sender.email.toUpperCase()} ` })
    expect([self.answer.status, fieldCode(self.answer, "email")]).toEqual([422, "eligibility"])
    const badKey = await begin({ email: null, pubkey: "zz" })
    expect(fieldCode(badKey.answer, "pubkey")).toBe("invalid")
    const unknownKey = await begin({
      email: null,
      pubkey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    })
    expect(fieldCode(unknownKey.answer, "pubkey")).toBe("unknown")
    expect((await begin({ email: "nobody" })).answer.status).toBe(400)
    expect((await begin({ message: "x".repeat(1001) })).answer.status).toBe(400)
  })

  it("requires an id that the caller owns", async () => {
    const body = { eid: nextId(), email: recipient.email }
    expect((await service.call("POST", "/transfers", { token: sender.token, body })).status).toBe(404)
    const { eid } = await begin()
    const theft = { token: stranger.token, body: { eid, email: stranger.email } }
    expect((await service.call("POST", "/transfers", theft)).status).toBe(404)
    expect(
      (
        await service.call("POST", "/transfers", {
          token: sender.token,
          body: { eid: "abc", email: "a@b.c" },
        })
      ).status,
    ).toBe(400)
    expect((await service.call("POST", "/transfers", { body })).status).toBe(401)
  })

  it("requires a sender with an email address", async () => {
    const silent = await service.user()
    await service.sql`update app_user set email = null, alternate_id = 'device' where id = ${silent.id}`
    const eid = nextId()
    await grant(service, silent, eid)
    const answer = await service.call("POST", "/transfers", {
      token: silent.token,
      body: { eid, email: recipient.email },
    })
    expect([answer.status, fieldCode(answer, "eid")]).toEqual([422, "eligibility"])
    expect((await claimOf(service, eid))?.kind).toBe("owned")
  })
})

describe("the codes of a transfer", () => {
  it("are valid only for one party of one transfer", async () => {
    const one = await begin()
    const oneCode = await codeFor(service, sender.email)
    const other = await confirmed()
    const receiverCode = await codeFor(service, recipient.email)
    expect((await act(one.id, "sender_accept", recipient, oneCode)).status).toBe(403)
    expect((await act(one.id, "sender_accept", stranger, oneCode)).status).toBe(404)
    expect((await act(one.id, "sender_accept", admin, oneCode)).status).toBe(403)
    expect((await act(one.id, "receiver_accept", recipient, receiverCode)).status).toBe(409)
    const swapped = await act(one.id, "sender_accept", sender, receiverCode)
    expect([swapped.status, swapped.body.fields.code[0].code]).toEqual([422, "invalid"])
    expect((await act(other.id, "receiver_accept", sender, receiverCode)).status).toBe(403)
    expect((await act(other.id, "sender_accept", sender, oneCode)).status).toBe(409)
  })

  it("are refused after five wrong tries, even if the sixth try is correct, until a new code is sent", async () => {
    const { eid, id } = await begin()
    const code = await codeFor(service, sender.email)
    const tries = []
    for (let n = 0; n < 5; n++) tries.push(await act(id, "sender_accept", sender, wrong(code)))
    expect(tries.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422])
    expect(tries[0]?.body.fields.code[0].message).toContain("4 tries")
    const sixth = await act(id, "sender_accept", sender, code)
    expect([sixth.status, sixth.body.fields.code[0].code]).toEqual([422, "too_many_tries"])
    expect((await claimOf(service, eid))?.kind).toBe("transfer")

    const early = await act(id, "resend_code", sender)
    expect(early.status).toBe(429)
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0)
    await age(service, id, 90)
    expect((await act(id, "resend_code", sender)).status).toBe(200)
    expect((await act(id, "sender_accept", sender, await codeFor(service, sender.email))).status).toBe(200)
  })

  it("allow exactly five wrong tries, even if thirty wrong tries are sent concurrently", async () => {
    const { id } = await begin()
    const code = await codeFor(service, sender.email)
    const guesses = await Promise.all(
      Array.from({ length: 30 }, () => act(id, "sender_accept", sender, wrong(code))),
    )
    const kinds = guesses.map(({ body }) => body.fields?.code[0].code)
    expect(kinds.filter((kind) => kind === "invalid")).toHaveLength(5)
    expect(kinds.filter((kind) => kind === "too_many_tries")).toHaveLength(25)
  })

  it("expire after ten minutes", async () => {
    const { id } = await begin()
    const code = await codeFor(service, sender.email)
    await age(service, id, 660)
    const late = await act(id, "sender_accept", sender, code)
    expect([late.status, late.body.fields.code[0].code]).toEqual([422, "expired"])
  })

  it("can be resent at most ten times by the party that must confirm, and a new code replaces the old code", async () => {
    const { id } = await begin()
    const old = await codeFor(service, sender.email)
    await age(service, id, 90)
    expect((await act(id, "resend_code", recipient)).status).toBe(403)
    expect((await act(id, "resend_code", stranger)).status).toBe(404)
    const resent = await act(id, "resend_code", sender)
    expect(resent.body).toMatchObject({ status: "AwaitingSender", resend_after: expect.any(String) })
    const fresh = await codeFor(service, sender.email)
    if (fresh !== old) expect((await act(id, "sender_accept", sender, old)).status).toBe(422)
    for (let n = 1; n < 10; n++) {
      await age(service, id, 90)
      expect((await act(id, "resend_code", sender)).status).toBe(200)
    }
    await age(service, id, 90)
    expect((await act(id, "resend_code", sender)).status).toBe(429)
    await act(id, "sender_accept", sender, await codeFor(service, sender.email))
    await age(service, id, 90)
    const before = (await mails(service, recipient.email)).length
    expect((await act(id, "resend_code", recipient)).body.status).toBe("AwaitingReceiver")
    expect(await mails(service, recipient.email)).toHaveLength(before + 1)
  })
})

describe("a transfer that ends without acceptance", () => {
  it("returns the id when the sender, the recipient or an administrator deletes the transfer", async () => {
    for (const user of [sender, recipient, admin]) {
      const { eid, id } = await confirmed()
      const answer = await service.call("DELETE", `/transfers/${id}`, { token: user.token, rawBody: "null" })
      expect(answer.body).toMatchObject({ status: "Deleted", deleted_at: expect.any(String) })
      expect(await claimOf(service, eid)).toEqual({ kind: "owned", holder: sender.id, owner_id: sender.id })
      const again = await service.call("DELETE", `/transfers/${id}`, { token: user.token })
      expect([again.status, again.body.state]).toEqual([409, "Deleted"])
      const accept = await act(id, "receiver_accept", recipient, await codeFor(service, recipient.email))
      expect(accept.status).toBe(409)
      const anew = await service.call("POST", "/transfers", {
        token: sender.token,
        body: { eid, email: recipient.email },
      })
      expect(anew.status).toBe(200)
    }
    const { id } = await begin()
    expect((await service.call("DELETE", `/transfers/${id}`, { token: stranger.token })).status).toBe(404)
  })

  it("expires after seven days by the database's clock", async () => {
    const { eid, id } = await confirmed()
    const code = await codeFor(service, recipient.email)
    await age(service, id, 7 * 86_400 + 60)
    const late = await act(id, "receiver_accept", recipient, code)
    expect([late.status, late.body.state]).toEqual([409, "Expired"])
    const { Deadlines } = await import("../../actors/deadlines.ts")
    await service.runtime.runPromise(Deadlines.use((deadlines) => deadlines.sweep))
    expect(await claimOf(service, eid)).toEqual({ kind: "owned", holder: sender.id, owner_id: sender.id })
    expect(await eventTypes(service, `transfer:${id}`)).toContain("transfer.expired")
    const list = await service.call("GET", "/transfers", { token: sender.token })
    expect(list.body.data.find((t: { id: string }) => t.id === id)).toMatchObject({
      status: "Expired",
      deleted_at: expect.any(String),
    })
  })

  it("expires when the database reports the transfer as due, even if this process's clock is slightly behind", async () => {
    const { eid, id } = await confirmed()
    await service.sql`update entity set due_at = now(), state = jsonb_set(state, '{context,expiresAt}',
      to_jsonb(wire_time(now() + interval '200 milliseconds'))) where id = ${id}`
    const { Deadlines } = await import("../../actors/deadlines.ts")
    await service.runtime.runPromise(Deadlines.use((deadlines) => deadlines.sweep))
    expect(await claimOf(service, eid)).toMatchObject({ kind: "owned", holder: sender.id })
  })
})

describe("lists of transfers", () => {
  it("show sent transfers, paged and filtered, and show transfers of other users only to administrators", async () => {
    const owner = await service.user()
    const eids = [nextId(), nextId(), nextId()]
    for (const eid of eids) {
      await grant(service, owner, eid)
      await service.call("POST", "/transfers", { token: owner.token, body: { eid, email: recipient.email } })
    }
    const all = await service.call("GET", "/transfers?dir=Asc", { token: owner.token })
    expect(all.body.data.map((t: { eid: string }) => t.eid)).toEqual(eids)
    expect(all.body.paging).toMatchObject({ limit: 50, page: 0, total: 3, dir: "Asc", sort: "created_at" })
    const page = await service.call("GET", "/transfers?limit=2&page=1", { token: owner.token })
    expect(page.body.data.map((t: { eid: string }) => t.eid)).toEqual([eids[0]])

    const beyond = await service.call("GET", "/transfers?limit=2&page=9", { token: owner.token })
    expect([beyond.body.data, beyond.body.paging.total]).toEqual([[], 3])

    const before = new Date(Date.now() - 60_000).toISOString()
    const none = await service.call("GET", `/transfers?accepted_after=${before}`, { token: owner.token })
    expect(none.body.data).toEqual([])
    const first = all.body.data[0].id
    const codes = (await mails(service, owner.email)).filter(({ data }) => data["transfer_id"] === first)
    await act(first, "sender_accept", owner, String(codes[0]?.data["code"]))
    await act(first, "receiver_accept", recipient, await codeFor(service, recipient.email))
    const accepted = await service.call("GET", `/transfers?accepted_after=${before}`, { token: owner.token })
    expect(accepted.body.data.map((t: { id: string }) => t.id)).toEqual([first])

    const query = `/transfers?sender_id=${owner.id}`
    expect((await service.call("GET", query, { token: stranger.token })).status).toBe(403)
    expect((await service.call("GET", query, { token: admin.token })).body.paging.total).toBe(3)
    expect((await service.call("GET", "/transfers?limit=0", { token: owner.token })).status).toBe(400)
  })

  it("show received transfers, filtered by acceptance, as arrays without paging", async () => {
    const waiting = await confirmed()
    const open = await service.call("GET", "/transfers/incoming", { token: recipient.token })
    const ids = open.body.map((t: { id: string }) => t.id)
    expect(ids).toContain(waiting.id)
    await act(waiting.id, "receiver_accept", recipient, await codeFor(service, recipient.email))
    const later = await service.call("GET", "/transfers/incoming?accepted=false", { token: recipient.token })
    expect(later.body.map((t: { id: string }) => t.id)).not.toContain(waiting.id)
    const accepted = await service.call("GET", "/transfers/incoming?accepted=true", {
      token: recipient.token,
    })
    expect(accepted.body[0]).toMatchObject({ id: waiting.id, accepted_at: expect.any(String) })
  })
})

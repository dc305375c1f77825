import { describe, expect, it } from "vitest"
import { Deadlines } from "../../../actors/deadlines.ts"
import { newestLink, mails as outbox, password, register, someEmail } from "../../accounts/person.ts"
import { type LiveClient, liveSocket } from "../../fixtures/live-client.ts"
import { serve } from "../../fixtures/service.ts"
import { age, codeFor, grant, makeIds, ownerOf } from "../../transfers/transfer-service.ts"

const service = await serve({ SWEEP_INTERVAL_MS: "60000" }, { peersPossible: true })
const sender = await service.user()
const nextId = makeIds()

const send = async (email: string) => {
  const eid = nextId()
  await grant(service, sender, eid)
  const { body } = await service.call("POST", "/transfers", { token: sender.token, body: { eid, email } })
  return { eid, id: body.id as string }
}
const act = (id: string, action: string, token: string, body?: unknown) =>
  service.call("POST", `/transfers/${id}/${action}`, { token, ...(body === undefined ? {} : { body }) })
/** Sends an id to the address and confirms as the sender, so that the transfer waits for the receiver. */
const sendConfirmed = async (email: string) => {
  const transfer = await send(email)
  const code = await codeFor(service, sender.email, transfer.id)
  expect((await act(transfer.id, "sender_accept", sender.token, { code })).status).toBe(200)
  return transfer
}
const confirm = async (person: { email: string; token: string }) => {
  const token = await newestLink(service, person.email)
  return service.call("POST", "/auth/magic_link/consume", { token: person.token, body: { token } })
}
const connect = async (token: string): Promise<LiveClient> => {
  const client = await liveSocket(service.url)()
  client.send({ type: "connect", token })
  await client.take({ type: "connected" })
  return client
}
const incoming = (token: string) => service.call("GET", "/transfers/incoming", { token })

describe("a user who registered an email address and has not confirmed it", () => {
  it("gets 403 with an instruction instead of the list of incoming transfers", async () => {
    const squatter = await register(service)
    await sendConfirmed(squatter.email)
    const { body, status, text } = await incoming(squatter.token)
    expect([status, body.code, body.email_unconfirmed]).toEqual([403, "forbidden", true])
    expect(body.error).toContain("open the link that we mailed to it")
    expect(text).not.toContain(sender.id)
    const loaded = await service.call("GET", "/account/load", { token: squatter.token })
    expect([loaded.status, loaded.body.incoming_transfers]).toEqual([200, []])
  })

  it("can neither accept nor delete a transfer to the address, nor use up its attempts or request codes", async () => {
    const squatter = await register(service)
    const { eid, id } = await sendConfirmed(squatter.email)
    const code = await codeFor(service, squatter.email, id)
    for (let n = 0; n < 6; n++)
      expect((await act(id, "receiver_accept", squatter.token, { code: "000000" })).status).toBe(403)
    const refused = [
      await act(id, "receiver_accept", squatter.token, { code }),
      await act(id, "resend_code", squatter.token),
      await service.call("DELETE", `/transfers/${id}`, { token: squatter.token }),
    ]
    for (const { body, status } of refused) expect([status, body.email_unconfirmed]).toEqual([403, true])
    expect(await service.sql`select 1 from wrong_transfer_code where eid = ${eid}`).toEqual([])

    expect((await confirm(squatter)).status).toBe(200)
    expect((await act(id, "receiver_accept", squatter.token, { code })).status).toBe(200)
    expect(await ownerOf(service, eid)).toBe(squatter.id)
  })

  it("receives no live events of the transfer, and receives it as `transfer.created` after the confirmation", async () => {
    const squatter = await register(service)
    const client = await connect(squatter.token)
    client.send({ type: "subscribe", channel: "transfers" })
    expect((await client.take({ type: "subscribed" })).state.incoming).toEqual([])
    const [waiting, deleted, expired] = [
      await sendConfirmed(squatter.email),
      await send(squatter.email),
      await send(squatter.email),
    ]
    await service.call("DELETE", `/transfers/${deleted.id}`, { token: sender.token })
    await age(service, expired.id, 8 * 86_400)
    await service.runtime.runPromise(Deadlines.use((deadlines) => deadlines.sweep))
    client.send({ type: "subscribe", channel: `transfer:${waiting.id}` })
    expect((await client.take({ type: "error" })).code).toBe("not_found")

    await confirm(squatter)
    const first = await client.take({ type: "event", channel: "transfers" })
    expect([first.offset, first.event, first.data.id]).toEqual([1, "transfer.created", waiting.id])
    client.send({ type: "subscribe", channel: `transfer:${waiting.id}` })
    expect((await client.take({ type: "subscribed", channel: `transfer:${waiting.id}` })).state.eid).toBe(
      waiting.eid,
    )
    await age(service, waiting.id, 8 * 86_400)
    await service.runtime.runPromise(Deadlines.use((deadlines) => deadlines.sweep))
    const last = await client.take({ type: "event", channel: "transfers", event: "transfer.expired" })
    expect(last.offset).toBe(2)
    client.close()
  })

  it("stays excluded after changing to another address and confirming that one", async () => {
    const squatter = await register(service)
    const { id } = await sendConfirmed(squatter.email)
    const other = someEmail()
    const body = { email: other, current_password: password }
    const changed = await service.call("PATCH", "/account", { token: squatter.token, body })
    expect(changed.status).toBe(200)
    expect((await confirm({ ...squatter, email: other })).status).toBe(200)
    expect((await incoming(squatter.token)).body).toEqual([])
    expect((await act(id, "receiver_accept", squatter.token, { code: "000000" })).status).toBe(403)
    expect((await service.call("DELETE", `/transfers/${id}`, { token: squatter.token })).status).toBe(403)
    const client = await connect(squatter.token)
    client.send({ type: "subscribe", channel: `transfer:${id}` })
    expect((await client.take({ type: "error" })).code).toBe("not_found")
    client.close()
  })

  it("is told in the mail with the code that the address must be confirmed first", async () => {
    const person = await register(service)
    await sendConfirmed(person.email)
    const mail = (await outbox(service, person.email)).find(({ kind }) => kind === "transfer_receiver_code")
    expect(mail?.text).toContain("Your email address is not confirmed yet.")
  })
})

describe("the recipient of a transfer", () => {
  it("who was invited by it logs in with a mailed link, which confirms the address, and accepts", async () => {
    const email = someEmail()
    const { eid, id } = await sendConfirmed(email)
    await service.call("POST", "/auth/magic_link", { body: { email } })
    const login = await service.call("POST", "/auth/magic_link/consume", {
      body: { token: await newestLink(service, email) },
    })
    const token = login.body.access_token as string
    expect((await incoming(token)).body).toEqual([expect.objectContaining({ id })])
    const code = await codeFor(service, email, id)
    expect((await act(id, "receiver_accept", token, { code })).status).toBe(200)
    expect((await incoming(token)).body).toEqual([])
    const { body: account } = await service.call("GET", "/account", { token })
    expect(await ownerOf(service, eid)).toBe(account.user.id)
  })

  it("who confirmed the address and then started to change it still sees the transfer", async () => {
    const person = await register(service)
    await confirm(person)
    const { id } = await sendConfirmed(person.email)
    const body = { email: someEmail(), current_password: password }
    await service.call("PATCH", "/account", { token: person.token, body })
    expect((await incoming(person.token)).body).toEqual([expect.objectContaining({ id })])
    expect((await service.call("DELETE", `/transfers/${id}`, { token: person.token })).status).toBe(200)
  })
})

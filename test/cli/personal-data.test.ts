import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ManagedRuntime } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parseCommand } from "../../src/cli/command-line/parse.ts"
import { commands } from "../../src/cli/commands.ts"
import { cliServices } from "../../src/cli/services.ts"
import { mails, password, register } from "../accounts/person.ts"
import { serve, type TestService, testConfig } from "../fixtures/service.ts"
import { atSandbox, freshId, newShopper, shopper, until } from "../orders/shopper.ts"
import { codeFor } from "../transfers/transfer-service.ts"

const service = await serve()
const runtime = ManagedRuntime.make(cliServices(testConfig(), service.database))
afterAll(() => runtime.dispose())
const folder = mkdtempSync(join(tmpdir(), "personal-data-"))
afterAll(() => rmSync(folder, { recursive: true }))

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const run = async (...args: ReadonlyArray<string>): Promise<any> => {
  const parsed = parseCommand(args, commands)
  if (!("input" in parsed) || !("run" in parsed.command)) throw new Error(JSON.stringify(parsed))
  return runtime.runPromise(parsed.command.run(parsed.input))
}

/** Every table that has a row with this text, as text or as the bytes of a text. */
const tablesWith = async ({ sql }: TestService, text: string): Promise<ReadonlyArray<string>> => {
  const tables = await sql<{ name: string }[]>`
    select format('%I', table_name) as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`
  const found = []
  for (const { name } of tables) {
    const [row] = await sql.unsafe(
      `select 1 from ${name} t where position($1 in t::text) > 0 or position($2 in t::text) > 0 limit 1`,
      [text, Buffer.from(text).toString("hex")],
    )
    if (row !== undefined) found.push(name)
  }
  return found
}

const phone = "+14155550171"
/** A person who has used every part of the service that stores something about a person. */
const newPerson = async () => {
  const registered = await register(service, { first_name: "Gracenote", last_name: "Hopperton" })
  await service.sql`update app_user set email_verified_at = now(), free_limit = 10 where id = ${registered.id}`
  const person = shopper(service, registered)
  const friend = await newShopper(service, { freeLimit: 10 })
  const [kept, sent, received] = [freshId(), freshId(), freshId()]

  await person.call("POST", "/cart", {
    items: [kept, sent].map((emoji_id) => ({ emoji_id })),
    tracking_data: { campaign: "campaign-of-grace" },
  })
  const paid = await person.checkout()
  expect(paid.status).toBe(200)
  await atSandbox(service, paid.body.payment_method_data.session_id, "pay")
  const order = await until(
    () => person.order(paid.body.id),
    ({ body }) => body.status === "Paid",
  )
  await friend.add(received)
  expect((await friend.checkout({ method: "Free" })).status).toBe(200)

  const written = await person.call("PATCH", `/emoji_id/${encodeURIComponent(kept)}`, {
    insert: [{ tag: "0x5001", data: "note of Grace" }],
  })
  expect(written.status).toBe(200)
  const stored = await person.call("POST", `/emoji_id/${encodeURIComponent(kept)}/json/SvcPageData`, {
    data: { city: "Arlington of Grace" },
  })
  expect(stored.status).toBe(200)

  const transfer = async (
    from: typeof person | typeof friend,
    to: typeof person | typeof friend,
    eid: string,
  ) => {
    const begun = await from.call("POST", "/transfers", {
      eid,
      email: to.email,
      message: `message from ${from.email}`,
    })
    expect(begun.status).toBe(200)
    const accept = async (user: typeof from, action: string) =>
      user.call("POST", `/transfers/${begun.body.id}/${action}`, {
        code: await codeFor(service, user.email, begun.body.id),
      })
    expect((await accept(from, "sender_accept")).status).toBe(200)
    expect((await accept(to, "receiver_accept")).status).toBe(200)
  }
  await transfer(person, friend, sent)
  await transfer(friend, person, received)

  const factor = await person.call("POST", "/account/2fa", { default: true, provider: "SMS", phone })
  expect(factor.status).toBe(200)
  const code = (await mails(service, phone))[0]?.code ?? ""
  expect((await person.call("POST", "/account/2fa/confirm", { code })).status).toBe(200)
  const key = await person.call("POST", "/api_keys", { name: "Key of Grace" })
  expect(key.status).toBe(200)
  return {
    person,
    friend,
    kept,
    received,
    sent,
    order: order.body,
    secrets: [password, key.body.api_key, code, ...factor.body.backup_codes],
  }
}

type Person = Awaited<ReturnType<typeof newPerson>>
let used: Person
beforeAll(async () => {
  used = await newPerson()
})

it("users export returns what is stored about a person, by subject", async () => {
  const { friend, kept, order, person, received, sent } = used
  const exported = await run("users", "export", person.email)
  expect(exported).toMatchObject({
    account: {
      id: person.id,
      email: person.email,
      first_name: "Gracenote",
      last_name: "Hopperton",
      has_password: true,
    },
    two_factor: [{ provider: "SMS", phone }],
    api_keys: [{ name: "Key of Grace" }],
    transfers_sent: [
      {
        emoji_id: sent,
        status: "Accepted",
        recipient_email: friend.email,
        message: `message from ${person.email}`,
      },
    ],
    transfers_received: [
      { emoji_id: received, sender_email: friend.email, message: `message from ${friend.email}` },
    ],
    orders: [
      {
        id: order.id,
        status: "Paid",
        checkout_email: person.email,
        tracking_data: { campaign: "campaign-of-grace" },
      },
    ],
  })
  const id = exported.emoji_ids.find(({ emoji_id }: { emoji_id: string }) => emoji_id === kept)
  expect(id).toMatchObject({
    records: [{ tag: 0x5001, data: "note of Grace" }],
    stored_data: { SvcPageData: { city: "Arlington of Grace" } },
    history: [
      { version: 1, kind: "registered" },
      { version: 2, kind: "records", added: [{ tag: 0x5001, data: "note of Grace" }] },
      { version: 3, kind: "data" },
    ],
  })
  expect(exported.messages.map(({ recipient }: { recipient: string }) => recipient)).toContain(person.email)
  expect(exported.security_log.map(({ event }: { event: string }) => event)).toContain("two_factor.enabled")
  const text = JSON.stringify(exported)
  for (const secret of used.secrets) expect(text).not.toContain(secret)
  expect(text).not.toMatch(/hash|sealed|\$argon2/)
})

it("users export --file writes a file that only the operator can read, and never replaces a file", async () => {
  const file = join(folder, "grace.json")
  const printed = await run("users", "export", used.person.id, "--file", file)
  const text = readFileSync(file, "utf8")
  expect(printed).toEqual({ file, bytes: Buffer.byteLength(text) })
  expect(JSON.parse(text)).toMatchObject({ account: { email: used.person.email } })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await expect(run("users", "export", used.friend.id, "--file", file)).rejects.toThrow(`${file} exists`)
  expect(readFileSync(file, "utf8")).toBe(text)
  await expect(run("users", "export", "nobody@example.com")).rejects.toThrow("User not found")
})

it("users erase removes every trace of a person, and keeps orders, transfers and the ledger", async () => {
  const { friend, kept, order, person, received } = used
  await expect(run("users", "erase", person.email)).rejects.toThrow("Or delete the account with --force.")
  expect((await run("users", "show", person.email)).email).toBe(person.email)
  const seen = await service.call("GET", `/emoji_id/${encodeURIComponent(kept)}`)
  expect(seen.body.result).toHaveLength(1)

  const ledger = await service.sql`select * from ledger_line order by 1, 2, 3`
  const erased = await run("users", "erase", person.email, "--force")
  expect(erased).toEqual({ id: person.id, erased: true, cleared_emoji_ids: [kept] })

  const traces = [
    person.email,
    "Gracenote",
    "Hopperton",
    phone,
    "campaign-of-grace",
    "Key of Grace",
    "note of Grace",
    "Arlington of Grace",
  ]
  for (const text of traces) expect([text, ...(await tablesWith(service, text))]).toEqual([text])
  // The other person's part of the transfers stays.
  expect(await tablesWith(service, `message from ${friend.email}`)).toEqual(["entity"])
  expect(await tablesWith(service, friend.email)).toContain("app_user")
  expect(await service.sql`select * from ledger_line order by 1, 2, 3`).toEqual(ledger)
  expect(await service.sql`select ledger_audit() as cents`).toEqual([{ cents: 0 }])

  const admin = await newShopper(service, { role: "Admin" })
  expect((await admin.order(order.id)).body).toMatchObject({
    status: "Paid",
    total_in_cents: order.total_in_cents,
    user: { id: person.id },
  })
  const { body: transfers } = await friend.call("GET", "/transfers")
  expect(transfers.data).toMatchObject([{ status: "Accepted", email: "", recipient_id: person.id }])
  for (const id of [kept, received]) {
    const answer = await service.call("GET", `/emoji_id/${encodeURIComponent(id)}`)
    expect([answer.status, answer.body.result]).toEqual([200, []])
    const refused = await friend.add(id)
    expect(refused.status).toBe(422)
  }
})

it("users erase finishes an erasure that was interrupted, and one of a user whom an earlier release deleted", async () => {
  const person = await newShopper(service, { freeLimit: 5 })
  const id = freshId()
  await person.add(id)
  const { body: order } = await person.checkout({ method: "Free", tracking_data: { source: "old-release" } })
  expect(order.status).toBe("Paid")
  await run("users", "delete", person.id, "--force")
  await service.sql`update entity set state = jsonb_set(jsonb_set(state, '{context,tracking}', '{"source":"old-release"}'),
                           '{context,checkout,email}', to_jsonb(${person.email}::text)) where id = ${order.id}`
  expect(await tablesWith(service, person.email)).toEqual(["entity"])
  await service.sql`insert into json_store (canonical, key, data) values (${id}, 'SvcPageData', '"old-release"')`

  expect(await run("users", "erase", person.id)).toEqual({
    id: person.id,
    erased: true,
    cleared_emoji_ids: [id],
  })
  expect(await run("users", "erase", person.id)).toEqual({
    id: person.id,
    erased: true,
    cleared_emoji_ids: [],
  })
  for (const text of [person.email, "old-release"]) expect(await tablesWith(service, text)).toEqual([])
  await expect(run("users", "erase", "00000000-0000-4000-8000-000000000000")).rejects.toThrow(
    "User not found",
  )
  await expect(run("users", "export", person.id)).rejects.toThrow("User not found")
})

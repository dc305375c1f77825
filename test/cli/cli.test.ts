import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ManagedRuntime } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { help, samples } from "../../src/cli/command-line/help.ts"
import { parseCommand } from "../../src/cli/command-line/parse.ts"
import { printed } from "../../src/cli/command-line/print.ts"
import { commands } from "../../src/cli/commands.ts"
import { cliServices } from "../../src/cli/services.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { userTopic } from "../../src/cluster/topic-names.ts"
import type { EthAddress } from "../../src/keys/eth-address.ts"
import { recoverEthSigner } from "../../src/keys/eth-message.ts"
import { MintSignatures, mintDigest } from "../../src/minting/mint-signatures.ts"
import { startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"
import { findRunningPostgres } from "../../src/postgres/embedded/running.ts"
import { register } from "../accounts/person.ts"
import { runCli } from "../fixtures/program.ts"
import { serve, testConfig } from "../fixtures/service.ts"
import { atSandbox, freshId, shopper } from "../orders/shopper.ts"

const service = await serve()
const runtime = ManagedRuntime.make(cliServices(testConfig(), service.database))
afterAll(() => runtime.dispose())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const run = async (...args: ReadonlyArray<string>): Promise<any> => {
  const parsed = parseCommand(args, commands)
  if (!("input" in parsed) || !("run" in parsed.command)) throw new Error(JSON.stringify(parsed))
  return runtime.runPromise(parsed.command.run(parsed.input))
}
const until = async (check: () => Promise<boolean>) => {
  await expect.poll(check).toBe(true)
}

describe("the command line while the service is running", () => {
  it("creates a user who can log in with the printed password", async () => {
    const made = await run("users", "create", "Ada@Example.com", "--role", "Admin")
    expect(made).toMatchObject({ email: "ada@example.com", role: "Admin" })
    const login = await service.call("POST", "/auth/token", {
      body: { email: "ada@example.com", password: made.password },
    })
    expect(login.status).toBe(200)
    const { body } = await service.call("GET", "/users", { token: login.body.access_token })
    expect(body.data.map((user: { email: string }) => user.email)).toContain("ada@example.com")
    expect((await run("users", "list")).length).toBe(body.paging.total)
  })

  it("changes a role and deactivates a user, and the running service applies both changes", async () => {
    const user = await service.user()
    const listed = async () => (await service.call("GET", "/users", { token: user.token })).status
    expect(await listed()).toBe(403)
    await run("users", "role", user.email, "Admin")
    await until(async () => (await listed()) === 200)
    await run("users", "deactivate", user.id)
    await until(async () => (await listed()) === 401)
    await run("users", "activate", user.id)
    expect(await run("users", "show", user.id)).toMatchObject({ role: "Admin", is_active: true })
  })

  it("sets a password, which ends the sessions of the user", async () => {
    const { email, refresh } = await register(service)
    const { password } = await run("users", "password", email)
    const logIn = (secret: string) =>
      service.call("POST", "/auth/token", { body: { email, password: secret } })
    expect((await logIn("correct horse battery")).status).toBe(401)
    expect((await logIn(password)).status).toBe(200)
    const refreshed = await service.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })
    expect(refreshed.status).toBe(401)
  })

  it("grants privileges only if the user is identified by a confirmed email address or by the user id", async () => {
    const email = "colleague@example.com"
    await service.call("POST", "/users", { body: { email, password: "correct horse battery" } })
    await run("organizations", "create", "Mine", "--partner-path", "mine", "--return-link", "mine://done")
    await expect(run("users", "role", email, "Admin")).rejects.toThrow("is not confirmed")
    await expect(run("members", "set", "mine", email, "OrgOwner")).rejects.toThrow("is not confirmed")
    const { id, role } = await run("users", "role", email, "User")
    expect(role).toBe("User")
    expect(await run("users", "role", id, "Admin")).toMatchObject({ role: "Admin" })
    await service.sql`update app_user set email_verified_at = now() where id = ${id}`
    expect(await run("members", "set", "mine", email, "OrgOwner")).toMatchObject({ role: "OrgOwner" })
  })

  it("creates, changes and deletes a partner with a member and an OAuth client", async () => {
    const user = await service.user()
    await run(
      "organizations",
      "create",
      "Wallet Co",
      "--partner-path",
      "wallet-co",
      "--return-link",
      "wallet://done",
    )
    expect(await run("members", "set", "wallet-co", user.email, "OrgOwner")).toMatchObject({
      role: "OrgOwner",
    })
    expect(await run("members", "list", "wallet-co")).toHaveLength(1)
    const link = "https://wallet.example/back"
    await run("organizations", "update", "wallet-co", "--return-link", link)
    const { body: mails } = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(user.email)}`)
    expect(mails).toMatchObject([{ kind: "return_link_changed", text: expect.stringContaining(link) }])
    await expect(
      run("organizations", "update", "wallet-co", "--return-link", "http://a.example"),
    ).rejects.toThrow(/return_link: expected an https URL/)
    const client = await run(
      ...["oauth", "create", "App", "--organization", "wallet-co"],
      ...["--redirect-uri", "https://a.example/cb", "--redirect-uri", "app://cb"],
    )
    expect(client.redirect_uris).toEqual(["https://a.example/cb", "app://cb"])
    expect(client.client_secret).toMatch(/^svcs_/)
    expect((await run("oauth", "rotate", client.client_id)).client_secret).not.toBe(client.client_secret)
    await run("oauth", "delete", client.client_id)
    expect(await run("members", "remove", "wallet-co", user.id)).toEqual({ removed: user.id })
    expect(await run("organizations", "delete", "wallet-co")).toMatchObject({ name: "Wallet Co" })
  })

  it("shows and sets the budget for the codes of an organization", async () => {
    await run("organizations", "create", "Spender", "--partner-path", "spender")
    const fees = { client_fee_basis_points: 250, company_fee_basis_points: 0 }
    expect(await run("organizations", "update", "spender", "--client-fee", "250")).toMatchObject(fees)
    await expect(run("organizations", "update", "spender", "--company-fee", "2.5")).rejects.toThrow(
      /company_fee_basis_points/,
    )
    expect(await run("organizations", "budget", "spender")).toMatchObject({ budget_in_cents: 0 })
    const set = { budget_in_cents: 500, used_in_cents: 0, remaining_in_cents: 500 }
    expect(await run("organizations", "budget", "spender", "--cents", "500")).toMatchObject(set)
    for (const cents of ["-1", "5.5", "much", ""])
      await expect(run("organizations", "budget", "spender", `--cents=${cents}`)).rejects.toThrow(
        /budget_in_cents/,
      )
    expect(await run("organizations", "budget", "spender")).toMatchObject(set)
    await expect(run("organizations", "budget", "unknown")).rejects.toThrow(/Organization not found/)
  })

  it.each(["-1", "two", "1.5", ""])("rejects the page number %j", async (page) => {
    await expect(run("users", "list", `--page=${page}`)).rejects.toThrow("page")
  })

  it("lists all organizations, even if they fill several pages", async () => {
    await service.sql`insert into organization (name) select 'Partner ' || n from generate_series(1, 450) n`
    const [{ total } = { total: 0 }] = await service.sql<Array<{ total: number }>>`
      select count(*)::int as total from organization`
    expect(await run("organizations", "list")).toHaveLength(total)
  })

  it("lists all OAuth clients, even if they fill several pages", async () => {
    await service.sql`insert into oauth_client (client_id, name, secret_hash, redirect_uris)
                      select 'many-' || n, 'Many', '', array['https://many.example/'] from generate_series(1, 1001) n`
    const [{ total }] = await service.sql<
      [{ total: number }]
    >`select count(*)::int as total from oauth_client`
    expect(await run("oauth", "list")).toHaveLength(total)
  })

  it("deletes an OAuth client, and the running service drops the cached data of all users of this client", async () => {
    const invalidated = new Set<string>()
    const bus = await service.runtime.runPromise(Bus)
    bus.onInvalidate(userTopic, (keys) => {
      for (const key of keys) invalidated.add(key)
    })
    const client = await run("oauth", "create", "Popular", "--redirect-uri", "https://popular.example/cb")
    const users = await service.sql<Array<{ id: string }>>`
      with people as (insert into app_user (email) select 'fan' || n || '@example.com' from generate_series(1, 400) n returning id)
      select id from people`
    await service.sql`
      insert into oauth_grant (id, user_id, client_id, emoji_id, epoch, expires_at)
      select gen_random_uuid(), id::uuid, ${client.client_id}, '🦊', 0, now() + interval '1 hour' from unnest(${users.map(({ id }) => id)}::text[]) id`
    await run("oauth", "delete", client.client_id)
    await until(async () => users.every(({ id }) => invalidated.has(id)))
  })

  it("assigns a feature to a user and removes the feature again", async () => {
    const user = await service.user()
    await run("features", "create", "beta", "Beta things")
    expect(await run("features", "list")).toMatchObject([{ code: "beta", description: "Beta things" }])
    await run("features", "assign", user.email, "beta")
    expect((await service.call("GET", "/user_features", { token: user.token })).body).toHaveLength(1)
    await run("features", "unassign", user.email, "beta")
    expect((await service.call("GET", "/user_features", { token: user.token })).body).toEqual([])
  })

  it("shows the Ethereum address of the key with which the service signs mint permissions", async () => {
    const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" as EthAddress
    const mint = { token: "🐙🌊", account, expirySeconds: 1_900_000_000 }
    const signature = await service.runtime.runPromise(MintSignatures.useSync(({ sign }) => sign(mint)))
    const address = recoverEthSigner(mintDigest(mint), signature)
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(await run("mint", "signer")).toEqual({ address })
  })

  it("lists mail that is not sent any more, and makes it due again", async () => {
    const [row] = await service.sql<[{ id: number }]>`
      insert into outbox (recipient, kind, payload, due_at, tries)
      values ('held@example.com', 'order_receipt', '{}', 'infinity', 3) returning id`
    expect(await run("mail", "unsent")).toMatchObject([{ id: row.id, recipient: "held@example.com" }])
    expect(await run("mail", "retry", String(row.id))).toEqual({ retried: row.id })
    expect(await run("mail", "unsent")).toEqual([])
    await expect(run("mail", "retry", String(row.id))).rejects.toThrow(/No unsent message/)
    await expect(run("mail", "retry", "x")).rejects.toThrow(/Not an id/)
  })

  it("requires --force to delete a user who owns ids", async () => {
    const user = await service.user()
    await service.sql`insert into claim (canonical, kind, holder, owner_id) values ('🦊🦊', 'owned', ${user.id}, ${user.id})`
    await expect(run("users", "delete", user.email)).rejects.toThrow(/emoji ids/)
    expect((await run("users", "delete", user.email, "--force")).kept_emoji_ids).toEqual(["🦊🦊"])
  })

  it("creates, lists and deletes a discount code, which buyers can use at once", async () => {
    const made = await run(
      "codes",
      "create",
      "Night",
      "--code",
      "NIGHT20",
      "--percent",
      "20",
      "--max-uses",
      "3",
    )
    expect(made).toMatchObject({ redemption_code: "NIGHT20", discount_as_percentage: 20 })
    expect(await run("codes", "list", "--type", "Discount")).toContainEqual(
      expect.objectContaining({ code: "NIGHT20", discount: "20 %", uses: "0 of 3", state: "active" }),
    )
    await expect(run("codes", "create", "Bad", "--code", "BAD1")).rejects.toThrow(/not valid/)
    await run("codes", "delete", made.id)
    expect(await run("codes", "list")).toContainEqual(
      expect.objectContaining({ id: made.id, state: "deleted" }),
    )
  })

  it("lists partners with what is wrong, and shows the addresses of their flows", async () => {
    await run(
      "organizations",
      "create",
      "Flow Co",
      "--partner-path",
      "flow-co",
      "--return-link",
      "flow://done",
    )
    await run("organizations", "create", "No link", "--partner-path", "no-link")
    const listed = await run("partners", "list")
    expect(listed).toContainEqual(expect.objectContaining({ partner: "flow-co", problem: "" }))
    expect(listed).toContainEqual(
      expect.objectContaining({ partner: "no-link", problem: "no return link: the flows cannot end" }),
    )
    const shown = await run("partners", "show", "flow-co")
    expect(shown).toMatchObject({ budget_in_cents: 0, members: [], return_link: "flow://done" })
    expect(shown.create).toMatch(/\/partner\/flow-co$/)
    expect((await service.call("GET", new URL(shown.create).pathname)).status).toBeLessThan(400)
  })

  it("lists, shows and refunds an order, and the running service shows the refund", async () => {
    const user = await service.user()
    const buyer = shopper(service, user)
    await buyer.add(freshId())
    const { body: order } = await buyer.checkout()
    await atSandbox(service, order.payment_method_data.session_id, "pay")
    await until(async () => (await buyer.order(order.id)).body.status === "Paid")
    const listed = await run("orders", "list", "--user", user.email, "--status", "Paid")
    expect(listed).toEqual([expect.objectContaining({ id: order.id, user: user.email, refunded: 0 })])
    const number = listed[0].order
    expect(await run("orders", "show", number)).toMatchObject({ id: order.id, status: "Paid" })
    const cents = listed[0].cents
    const booked = ["orders", "refund-override", number, "--cents", "100", "--reference", "bank-4711"]
    for (const _ of [1, 2]) expect(await run(...booked)).toMatchObject({ refunded_total_in_cents: 100 })
    await expect(run("orders", "refund-override", number, "--cents", "100")).rejects.toThrow(
      "Missing option: --reference",
    )
    await run("orders", "refund", order.id, "--cents", String(cents - 100), "--reason", "night")
    const seen = await service.call("GET", `/orders/${order.id}`, { token: user.token })
    expect(seen.body.refunded_total_in_cents).toBe(cents)
    const receipts = () =>
      service.sql`select 1 from outbox where recipient = ${user.email} and kind = 'order_receipt'`
    const before = (await receipts()).length
    await run("orders", "receipt", number)
    expect(await receipts()).toHaveLength(before + 1)
    await expect(run("orders", "show", "NO-SUCH-ORDER")).rejects.toThrow("Order not found: NO-SUCH-ORDER")
  })

  it("validates arguments by the rules of the API", async () => {
    await expect(run("users", "create", "not-an-email")).rejects.toThrow(/email/)
    await expect(run("users", "create", "x@example.com", "--role", "King")).rejects.toThrow(
      /Unknown role "King". Use one of: Admin/,
    )
    await expect(run("users", "show", "unknown@example.com")).rejects.toThrow(/User not found/)
    await expect(run("organizations", "create", "X", "--return-link", "javascript:alert(1)")).rejects.toThrow(
      /return_link/,
    )
    await expect(run("oauth", "create", "X")).rejects.toThrow(/redirect_uris/)
  })
})

describe("the command line without a running service", () => {
  it("finds a command of one word, and one whose name begins with it", () => {
    expect(parseCommand(["backup", "file"], commands)).toMatchObject({ input: { words: ["file"] } })
    expect(parseCommand(["backup", "verify", "file"], commands)).toMatchObject({
      command: { name: "backup verify" },
      input: { words: ["file"] },
    })
  })

  it("shows all commands without arguments, those of one subject, or one command with an example", () => {
    expect(parseCommand([], commands)).toEqual({ help: commands })
    const ofUsers = commands.filter(({ name }) => name.startsWith("users "))
    for (const args of [["users", "--help"], ["users"], ["help", "users"]])
      expect(parseCommand(args, commands)).toEqual({ help: ofUsers })
    const role = commands.filter(({ name }) => name === "users role")
    expect(parseCommand(["users", "role", "--help"], commands)).toEqual({ help: role })
    expect(help(role)).toMatch(
      /^Usage: .* users role USER ROLE .*\nExample:\n {2}npm run cli -- users role ada@example\.com Admin$/s,
    )
  })

  it("names a missing or unexpected argument, an unknown option, and the command that was probably meant", () => {
    const mistake = (...args: ReadonlyArray<string>) => parseCommand(args, commands)
    expect(mistake("users", "role", "x")).toMatchObject({ mistake: "Missing argument: ROLE" })
    expect(mistake("users", "show", "x", "y")).toMatchObject({ mistake: "Unexpected argument: y" })
    expect(mistake("users", "list", "--color")).toMatchObject({ mistake: expect.stringContaining("--color") })
    expect(mistake("users", "lsit")).toEqual({
      mistake: 'Unknown command: users lsit. Did you mean "users list"?',
    })
    expect(mistake("docter")).toEqual({ mistake: 'Unknown command: docter. Did you mean "doctor"?' })
    expect(mistake("fly", "away")).toEqual({
      mistake: 'Unknown command: fly away. Run "npm run cli -- help" for a list.',
    })
  })

  it("still knows the names of earlier releases", () => {
    expect(parseCommand(["clients", "list"], commands)).toMatchObject({ command: { name: "oauth list" } })
  })

  it("has a unique name for each command, lists every command in the help, and has an example for each", () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length)
    for (const { example, name, words } of commands) {
      expect(help(commands)).toContain(`  ${name}`)
      expect(example !== undefined || words.every((word) => word in samples), name).toBe(true)
    }
  })

  it("prints a list as a table, an object as lines, and any value as JSON if JSON is requested", () => {
    expect(
      printed(
        [
          { a: 1, b: "x" },
          { a: 20, b: null },
        ],
        false,
      ),
    ).toBe("a   b\n1   x\n20")
    expect(printed({ id: 1, tags: ["x"] }, false)).toBe('id    1\ntags  ["x"]')
    expect(printed([], false)).toBe("(none)")
    expect(JSON.parse(printed({ a: 1 }, true))).toEqual({ a: 1 })
  })
})

describe("the command-line program", () => {
  it("uses the embedded database server that already runs, and reports success or failure by the exit code", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "directory-cli-"))
    const postgresDir = join(dataDir, "postgres")
    expect(findRunningPostgres(postgresDir)).toBeUndefined()
    const server = await startEmbeddedPostgres({ dataDir: postgresDir, flags: ["-c", "fsync=off"] })
    const program = (...args: ReadonlyArray<string>) => runCli(args, { DATA_DIR: dataDir })
    try {
      expect(findRunningPostgres(postgresDir)).toEqual({ socketDir: server.socketDir, port: server.port })
      const made = await program("organizations", "create", "Acme", "--json")
      expect(made).toMatchObject({ code: 0, err: "" })
      expect(JSON.parse(made.out).name).toBe("Acme")
      const [refused, mistaken] = await Promise.all([
        program("users", "show", "unknown@example.com"),
        program("fly"),
      ])
      expect(refused).toEqual({ code: 1, out: "", err: "User not found: unknown@example.com\n" })
      expect(mistaken).toMatchObject({ code: 2, out: "" })
      expect(mistaken.err.trim().split("\n")).toHaveLength(1)
    } finally {
      await server.stop()
      expect(findRunningPostgres(postgresDir)).toBeUndefined()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

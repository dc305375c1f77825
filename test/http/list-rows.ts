import { randomUUID } from "node:crypto"
import type { TestService, TestUser } from "../fixtures/service.ts"
import { grant, makeIds } from "../transfers/transfer-service.ts"

/** How a test reads a list and changes its rows. A row is named by what identifies its item in responses. */
export interface ListRows {
  readonly path: string
  readonly reader: TestUser
  add(): Promise<string>
  remove(name: string): Promise<unknown>
}

/** The time of every second row, so that the rows between have the same time. It has microseconds. */
const tied = "2026-01-31 12:00:00.123456+00"

/** Returns how to change the rows of each list, by the id of its route. */
export const makeListRows = async (service: TestService): Promise<Readonly<Record<string, ListRows>>> => {
  const { sql } = service
  const admin = await service.user({ role: "Super" })
  const owner = await service.user()
  const organization = randomUUID()
  await sql`insert into organization (id, name) values (${organization}, 'Acme')`
  const nextId = makeIds(90_000)
  const changedId = nextId()
  await grant(service, owner, changedId)
  let added = 0
  /** The time and the name of the next row. Every second row has the same time, every third one no name. */
  const next = () => {
    added++
    const at =
      added % 2 === 0 ? tied : new Date(Date.UTC(2026, 1, 1) + ((added * 7919) % 100_000)).toISOString()
    return { at, name: added % 3 === 0 ? null : `Name ${(added * 31) % 7}` }
  }

  const entity = async (kind: string, status: string, context: object, columns: object = {}) => {
    const id = randomUUID()
    const { at } = next()
    const state = JSON.stringify({ status, context: { id, createdAt: at, updatedAt: at, ...context } })
    await sql`insert into entity ${sql({ kind, id, version: 1, turn: id, status, owner_id: owner.id, created_at: at, updated_at: at, ...columns } as never)}`
    await sql`update entity set state = ${state}::text::jsonb where kind = ${kind} and id = ${id}`
    return id
  }
  const removeEntity = (id: string) => sql`delete from entity where id = ${id}`
  const order = () =>
    entity(
      "order",
      added % 3 === 0 ? "Cancelled" : "Paid",
      {
        ...{ userId: owner.id, items: [], attempt: 1, payments: [], refunds: [], codes: [], undelivered: [] },
      },
      { state: {} },
    )
  const lootbox = () =>
    entity(
      "lootbox",
      added % 3 === 0 ? "Available" : "Owned",
      {
        ...{ typeId: null, ids: [], ownerId: owner.id, orderId: null, openedAt: null },
      },
      { state: {} },
    )
  const party = { id: owner.id, email: owner.email }
  const transfer = (status = added % 3 === 0 ? "Deleted" : "Accepted") => {
    const acceptedAt =
      status === "Accepted" ? new Date(Date.UTC(2026, 2, 1 + (added % 3))).toISOString() : null
    const context = {
      ...{
        eid: `e${added % 4}`,
        sender: party,
        recipient: party,
        pubkey: null,
        clearOnTransfer: false,
        message: null,
      },
      ...{ forced: false, expiresAt: tied, senderCode: null, receiverCode: null, senderAcceptedAt: null },
      ...{ acceptedAt, deletedAt: null, recipientSees: true },
    }
    return entity("transfer", status, context, { peer_id: owner.id, subject: context.eid, state: {} })
  }
  /** Adds a row to a table. Returns the given column of it. */
  const row = (table: string, column: string, columns: (made: ReturnType<typeof next>) => object) => ({
    add: async () => {
      const [made] = await sql`insert into ${sql(table)} ${sql(columns(next()) as never)} returning *`
      return String(made![column])
    },
    remove: (name: string) => sql`delete from ${sql(table)} where ${sql(column)} = ${name}`,
  })
  const ids = {
    add: async () => {
      const canonical = nextId()
      await sql`insert into emoji_id (canonical, owner_id, source) values (${canonical}, ${owner.id}, 'test')`
      return canonical
    },
    remove: (canonical: string) => sql`delete from emoji_id where canonical = ${canonical}`,
  }
  const log = row("security_log", "id", ({ at }) => ({
    ...{
      id: randomUUID(),
      user_id: owner.id,
      event: "login.succeeded",
      at,
      last_at: at,
      via: "session",
      details: {},
    },
  }))

  return {
    listEmojiIDs: { path: "/emoji_id", reader: owner, ...ids },
    listExtended: { path: "/emoji_id/extended", reader: owner, ...ids },
    listFiltered: { path: "/transfers?all=true", reader: admin, add: transfer, remove: removeEntity },
    listIncoming: {
      path: "/transfers/incoming?accepted=true",
      reader: owner,
      add: () => transfer("Accepted"),
      remove: removeEntity,
    },
    getAllUsers: {
      path: "/users",
      reader: admin,
      ...row("app_user", "id", ({ at, name }) => ({
        ...{ email: name && `${randomUUID()}@example.com`, first_name: name, last_name: name, role: "User" },
        ...{ created_at: at, updated_at: at },
      })),
    },
    getSecurityLog: { path: "/account/security_log", reader: owner, ...log },
    getSecurityLogOfUser: { path: `/users/${owner.id}/security_log`, reader: admin, ...log },
    getInterestedUsers: {
      path: "/user_interests",
      reader: owner,
      ...row("user_interest", "id", ({ at }) => ({
        ...{ user_id: owner.id, canonical: nextId(), created_at: at, updated_at: at },
      })),
    },
    listOrganizations: {
      path: "/organizations",
      reader: admin,
      ...row("organization", "id", ({ at, name }) => ({ name: name ?? "", created_at: at, updated_at: at })),
    },
    listMembers: {
      path: `/organizations/${organization}/members`,
      reader: admin,
      add: async () => {
        const { id } = await service.user()
        await sql`insert into organization_member (organization_id, user_id, role, created_at)
                  values (${organization}, ${id}, 'OrgMember', ${next().at})`
        return id
      },
      remove: (id) => sql`delete from organization_member where user_id = ${id}`,
    },
    listOrganizationPubkeys: {
      path: `/organizations/${organization}/pubkeys`,
      reader: admin,
      ...row("pubkey", "pubkey", ({ at }) => ({
        ...{ pubkey: randomUUID(), user_id: owner.id, organization_id: organization, created_at: at },
      })),
    },
    listGrantedApplications: {
      path: "/account/applications",
      reader: owner,
      add: async () => {
        const { at } = next()
        const client = { client_id: randomUUID(), name: "App", secret_hash: "", redirect_uris: ["app://cb"] }
        const times = { created_at: at, expires_at: "2100-01-01T00:00:00Z" }
        const granted = { id: randomUUID(), client_id: client.client_id, user_id: owner.id, emoji_id: "🌊" }
        await sql`insert into oauth_client ${sql(client)}`
        await sql`insert into oauth_grant ${sql({ ...granted, ...times, epoch: 0 } as never)}`
        return client.client_id
      },
      remove: (name) => sql`delete from oauth_client where client_id = ${name}`,
    },
    listOauthClients: {
      path: "/oauth_clients",
      reader: admin,
      ...row("oauth_client", "client_id", ({ at }) => ({
        ...{
          client_id: randomUUID(),
          name: "App",
          secret_hash: "",
          redirect_uris: ["app://cb"],
          created_at: at,
        },
      })),
    },
    getTypes: {
      path: "/lootbox_type",
      reader: admin,
      ...row("lootbox_type", "id", ({ at }) => ({
        ...{ name: "Type", description: "", created_at: at },
        config: {
          size: 1,
          min_length: 5,
          max_length: 5,
          min_base_score: 1,
          max_base_score: 100,
          guarantees: [],
          weights: [],
        },
      })),
    },
    emojiIdHistory: {
      path: `/emoji_id/${encodeURIComponent(changedId)}/history`,
      reader: owner,
      add: async () => {
        const version = String(1000 + ++added)
        await sql`insert into emoji_id_change (canonical, version, kind, owner_id)
                  values (${changedId}, ${version}, 'records', ${owner.id})`
        return version
      },
      remove: (version) =>
        sql`delete from emoji_id_change where canonical = ${changedId} and version = ${version}`,
    },
    listLootboxes: { path: "/lootboxes", reader: owner, add: lootbox, remove: removeEntity },
    listOrders: { path: "/orders?all=true", reader: admin, add: order, remove: removeEntity },
    listPaymentMethods: {
      path: "/payment_methods",
      reader: owner,
      ...row("payment_method", "id", ({ at, name }) => ({
        ...{ id: randomUUID(), user_id: owner.id, provider: "stripe", payment_type: "card" },
        ...{ is_default: name === null, created_at: at },
      })),
    },
    listCodes: {
      path: "/codes",
      reader: admin,
      ...row("code", "id", ({ at, name }) => ({
        ...{ name: name ?? "", code_type: name === null ? "RandomYat" : "Discount", activator: "SecretKey" },
        ...{ discount_in_cents: 100, created_at: at, updated_at: at },
      })),
    },
  }
}

import { generateKeyPairSync, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { Accounts } from "../../../src/accounts/account-store.ts"
import { Sessions } from "../../../src/accounts/sessions/sessions.ts"
import type { Route } from "../../../src/http/route.ts"
import type { TestService, TestUser } from "../../fixtures/service.ts"
import { card, freshId } from "../../orders/shopper.ts"
import { age, codeFor } from "../../transfers/transfer-service.ts"
import type { Caller, Target, World } from "./matrix-world.ts"

/** A valid Ed25519 public key that no test has used. */
const newPubkey = (): string =>
  generateKeyPairSync("ed25519")
    .publicKey.export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex")

type Builder = (world: World, caller: Caller) => Promise<Target | ReadonlyArray<Target>>

/**
 * The status of an admitted request, for operations that are not called with everything that success needs, for
 * example a signature.
 */
export const admittedStatus: Readonly<Record<string, number>> = {
  confirm2FA: 422,
  disable2FA: 404,
  syncWallet: 422,
  applyPromoCode: 422,
  refundOrder: 422,
  activateRandomYatCode: 422,
}

/**
 * Makes the requests of the matrix. Each builder creates the resources that its operation uses, so that every admitted
 * request can succeed and the result of one caller does not depend on another.
 */
export const makeRequests = (service: TestService) => {
  const { sql } = service
  const done = async (method: string, path: string, user: TestUser, body?: unknown) => {
    const answer = await service.call(method, path, {
      token: user.token,
      ...(body === undefined ? {} : { body }),
    })
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const admin = ({ strangers }: World) => strangers.Admin

  /** Registers an id of the owner that the key of the organization owns. */
  const newId = async ({ owner, pubkey }: World) => {
    const id = freshId()
    await sql`with c as (insert into claim (canonical, kind, holder, owner_id)
                         values (${id}, 'owned', ${owner.id}, ${owner.id}))
              insert into emoji_id (canonical, owner_id, source, pubkey) values (${id}, ${owner.id}, 'test', ${pubkey})`
    return id
  }
  const idPath = async (world: World) => `/emoji_id/${encodeURIComponent(await newId(world))}`
  const newTransfer = async (world: World) => {
    const body = { eid: await newId(world), email: world.peer.email }
    return (await done("POST", "/transfers", world.owner, body)).id as string
  }
  /** A transfer to the owner that waits for the owner's code. */
  const newIncoming = async (world: World) => {
    const { owner, peer } = world
    const eid = freshId()
    await sql`with c as (insert into claim (canonical, kind, holder, owner_id)
                         values (${eid}, 'owned', ${peer.id}, ${peer.id}))
              insert into emoji_id (canonical, owner_id, source) values (${eid}, ${peer.id}, 'test')`
    const { id } = await done("POST", "/transfers", peer, { eid, email: owner.email })
    const code = await codeFor(service, peer.email, id)
    await done("POST", `/transfers/${id}/sender_accept`, peer, { code })
    return id as string
  }
  const fillCart = async (user: TestUser) => {
    await done("DELETE", "/cart", user)
    return done("POST", "/cart", user, { items: [{ emoji_id: freshId() }] })
  }
  const pendingOrder = async (user: TestUser) => {
    await fillCart(user)
    return done("POST", "/cart/checkout", user, card)
  }
  const paidOrder = async (world: World) => {
    const order = await pendingOrder(world.owner)
    const body = { amount: order.total_in_cents, external_reference: randomUUID() }
    return done("POST", `/orders/${order.id}/payment_override`, admin(world), body)
  }
  const newFeature = async () => {
    const [row] = await sql<
      [{ id: string }]
    >`insert into feature (code) values (${randomUUID()}) returning id`
    return row.id
  }
  const newOrganization = async () => {
    const [row] = await sql<[{ id: string }]>`insert into organization (name) values ('Empty') returning id`
    return row.id
  }
  const newCode = async (world: World) =>
    (
      await done("POST", "/codes", world.members.OrgOwner, {
        name: "a code",
        code_type: "Discount",
        discount_in_cents: 5,
        redemption_code: randomUUID(),
        organization_id: world.organization,
      })
    ).id as string
  const newClient = async (world: World) =>
    (
      await done("POST", "/oauth_clients", admin(world), {
        name: "an application",
        redirect_uris: ["https://app.example/back"],
      })
    ).client_id as string
  const newBox = async (world: World, status: string, owner_id?: string) =>
    (
      await done("POST", "/lootboxes", admin(world), {
        status,
        yats: [freshId()],
        ...(owner_id === undefined ? {} : { owner_id }),
      })
    ).id as string
  const boxType = {
    name: "Starter",
    description: "",
    config: {
      size: 1,
      min_length: 4,
      max_length: 6,
      min_base_score: 1,
      max_base_score: 100,
      guarantees: [],
      weights: [],
    },
  }
  const newMethod = async ({ owner }: World) => {
    const id = `pm_${randomUUID()}`
    await sql`insert into payment_method (id, user_id, provider, payment_type) values (${id}, ${owner.id}, 'sandbox', 'card')`
    return id
  }
  const booking = () => ({ amount: 1, external_reference: randomUUID() })

  const own = (path: string, body?: unknown): Target => ({
    path,
    own: true,
    ...(body === undefined ? {} : { body }),
  })
  const ofOrganization = (path: string, body?: unknown): Target => ({
    path,
    organization: true,
    ...(body === undefined ? {} : { body }),
  })
  const both = (path: string, body?: unknown): Target => ({ ...own(path, body), organization: true })
  const listBuilder =
    (path: string): Builder =>
    async ({ organization, owner }) => [
      own(`${path}?user_id=${owner.id}`),
      ofOrganization(`${path}?organization_id=${organization}`),
    ]
  const organizationBuilder =
    (rest = "", body?: unknown): Builder =>
    async ({ organization }) =>
      ofOrganization(`/organizations/${organization}${rest}`, body)
  const userBuilder =
    (rest = "", body?: unknown): Builder =>
    async ({ owner }) =>
      own(`/users/${owner.id}${rest}`, body)

  const builders: Readonly<Record<string, Builder>> = {
    getStats: async (w) => own(`${await idPath(w)}/stats`),
    listEmojiIDs: listBuilder("/emoji_id"),
    listExtended: listBuilder("/emoji_id/extended"),
    searchEmojiID: async () => own(`/emoji_id/search?emoji_id=${encodeURIComponent(freshId())}`),
    storeJson: async (w) => both(`${await idPath(w)}/json/VisualizerName`, { data: "moon" }),
    editEmojiID: async (w) =>
      both(await idPath(w), { insert: [{ tag: "0x4001", data: "https://example.com" }] }),
    generateSignature: async (w) =>
      both(`${await idPath(w)}/generate_signature`, {
        account: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
      }),
    registerEmojiID: async ({ owner }) => own("/emoji_id", { emoji_id: freshId(), user_id: owner.id }),
    setMinted: async (w) => both(`${await idPath(w)}/minted`, { minted: true }),
    destroyEmojiID: async (w) => both(await idPath(w)),
    writePriceParameters: async (w) =>
      own("/price_parameters", await done("GET", "/price_parameters", admin(w))),
    requestTransfer: async (w) => own("/transfers", { eid: await newId(w), email: w.peer.email }),
    listFiltered: async ({ owner }) => own(`/transfers?sender_id=${owner.id}`),
    deleteTransfer: async (w) => own(`/transfers/${await newTransfer(w)}`),
    senderAcceptTransfer: async (w) => {
      const id = await newTransfer(w)
      return own(`/transfers/${id}/sender_accept`, { code: await codeFor(service, w.owner.email, id) })
    },
    receiverAcceptTransfer: async (w) => {
      const id = await newIncoming(w)
      return own(`/transfers/${id}/receiver_accept`, { code: await codeFor(service, w.owner.email, id) })
    },
    resendCode: async (w) => {
      const id = await newTransfer(w)
      await age(service, id, 61)
      return own(`/transfers/${id}/resend_code`)
    },
    enable2FA: async () => own("/account/2fa/enable", { default: true, provider: "AuthenticatorApp" }),
    enable2FAShort: async () => own("/account/2fa", { default: true, provider: "AuthenticatorApp" }),
    confirm2FA: async () => own("/account/2fa/confirm", { code: "000000" }),
    disable2FA: async () => own("/account/2fa/disable", { disable_all: true }),
    load: listBuilder("/account/load"),
    updateAccount: async () => own("/account", { first_name: "Ann" }),
    endSession: async (_, { user }) => {
      await service.runtime.runPromise(
        Effect.gen(function* () {
          const account = yield* Accounts.use((accounts) => accounts.find({ id: user.id }))
          yield* Sessions.use((sessions) => sessions.open(account!, { method: "password" }))
        }),
      )
      const [session] = await sql`select id from entity where kind = 'session' and owner_id = ${user.id}
                                   order by updated_at desc limit 1`
      return own(`/account/sessions/${session?.["id"]}`)
    },
    revokeGrantedApplication: async (w, { user }) => {
      const client = await newClient(w)
      await sql`insert into oauth_grant (id, client_id, user_id, emoji_id, epoch, expires_at)
                values (${randomUUID()}, ${client}, ${user.id}, '🌊', 0, now() + interval '1 day')`
      return own(`/account/applications/${client}`)
    },
    getSecurityLogOfUser: userBuilder("/security_log"),
    showUser: userBuilder(),
    updateUserByAdmin: userBuilder("", { first_name: "Ann" }),
    deleteUser: userBuilder(),
    destroyTwoFactor: userBuilder("/2fa"),
    createFeature: async () => own("/features", { code: `beta-${randomUUID()}` }),
    deleteFeature: async () => own(`/features/${await newFeature()}`),
    readFeaturesOfUser: userBuilder("/features"),
    assignFeature: async ({ owner }) => own(`/users/${owner.id}/features/${await newFeature()}`),
    unassignFeature: async ({ owner }) => {
      const id = await newFeature()
      await sql`insert into user_feature (user_id, feature_id) values (${owner.id}, ${id})`
      return own(`/users/${owner.id}/features/${id}`)
    },
    addPubkey: async () => own(`/pubkeys/${newPubkey()}`),
    addPubkeyForUser: async ({ owner }) => own(`/users/${owner.id}/pubkeys/${newPubkey()}`),
    getPubkeysForUser: userBuilder("/pubkeys"),
    walletChallenge: async () => own("/wallets/challenge?source=Mint"),
    syncWallet: async () => own("/wallets", { signature: `0x${"00".repeat(65)}`, source: "Mint" }),
    createApiKey: async ({ owner }) => own(`/api_keys?user_id=${owner.id}`, { name: "made" }),
    listApiKeys: async ({ owner }) => own(`/api_keys?user_id=${owner.id}`),
    deleteApiKey: async ({ owner }) => {
      const id = randomUUID()
      await sql`insert into api_key (id, user_id, name, secret_hash, scopes) values (${id}, ${owner.id}, 'k', 'h', '{}')`
      return own(`/api_keys/${id}`)
    },
    registerInterest: async () => own("/user_interests", { emoji_id: freshId() }),
    getUserInterestForYat: async (w, { user }) => {
      const id = await newId(w)
      await sql`insert into user_interest (user_id, canonical) values (${user.id}, ${id})`
      return own(`/user_interests/${encodeURIComponent(id)}`)
    },
    deleteUserInterest: async (w, { user }) => {
      const id = await newId(w)
      await sql`insert into user_interest (user_id, canonical) values (${user.id}, ${id})`
      return own(`/user_interests/${encodeURIComponent(id)}`)
    },
    createOrganization: async () => own("/organizations", { name: "Acme" }),
    showOrganization: organizationBuilder(),
    updateOrganization: organizationBuilder("", { name: "Acme" }),
    deleteOrganization: async () => ofOrganization(`/organizations/${await newOrganization()}`),
    getBranding: organizationBuilder("/branding"),
    setBranding: organizationBuilder("/branding", { currencies: [] }),
    getCodeBudget: organizationBuilder("/code_budget"),
    setCodeBudget: organizationBuilder("/code_budget", { budget_in_cents: 100 }),
    listMembers: organizationBuilder("/members"),
    putMember: async ({ organization }) => {
      const { email, id } = await service.user()
      return ofOrganization(`/organizations/${organization}/members/${id}`, { role: "OrgMember", email })
    },
    removeMember: async ({ organization, owner }) => {
      await sql`insert into organization_member (organization_id, user_id, role)
                values (${organization}, ${owner.id}, 'OrgMember') on conflict do nothing`
      return both(`/organizations/${organization}/members/${owner.id}`)
    },
    listOrganizationPubkeys: organizationBuilder("/pubkeys"),
    giveOrganizationPubkey: async ({ organization, owner }) => {
      const pubkey = newPubkey()
      await sql`insert into pubkey (pubkey, user_id) values (${pubkey}, ${owner.id})`
      return both(`/organizations/${organization}/pubkeys/${pubkey}`)
    },
    takeOrganizationPubkey: async ({ organization, owner }) => {
      const pubkey = newPubkey()
      await sql`insert into pubkey (pubkey, user_id, organization_id) values (${pubkey}, ${owner.id}, ${organization})`
      return both(`/organizations/${organization}/pubkeys/${pubkey}`)
    },
    createOauthClient: async () =>
      own("/oauth_clients", { name: "an application", redirect_uris: ["https://app.example/back"] }),
    updateOauthClient: async (w) => own(`/oauth_clients/${await newClient(w)}`, { name: "Acme" }),
    rotateOauthClientSecret: async (w) => own(`/oauth_clients/${await newClient(w)}/secret`),
    deleteOauthClient: async (w) => own(`/oauth_clients/${await newClient(w)}`),
    callProxy: async () => own("/proxy", { service: "Echo", data: "x" }),
    createType: async () => own("/lootbox_type", boxType),
    generateLootBoxes: async (w) =>
      own("/lootbox_type/generate", {
        loot_box_type_id: (await done("POST", "/lootbox_type", admin(w), boxType)).id,
        num_boxes: 1,
      }),
    createLootbox: async () => own("/lootboxes", { status: "Draft", yats: [freshId()] }),
    listLootboxes: async ({ owner }) => own(`/lootboxes?owner_id=${owner.id}`),
    showLootbox: async (w) => own(`/lootboxes/${await newBox(w, "Owned", w.owner.id)}`),
    updateLootbox: async (w) => own(`/lootboxes/${await newBox(w, "Draft")}`, { status: "Available" }),
    deleteLootbox: async (w) => own(`/lootboxes/${await newBox(w, "Draft")}`),
    openLootbox: async (w) => own(`/lootboxes/${await newBox(w, "Owned", w.owner.id)}/open`),
    addItems: async () => own("/cart", { items: [{ emoji_id: freshId() }] }),
    removeItem: async ({ owner }) => own(`/cart/cart_items/${(await fillCart(owner)).order_items[0].id}`),
    checkout: async (_, { user }) => {
      await fillCart(user)
      return own("/cart/checkout", card)
    },
    checkoutOrder: async ({ owner }) => own(`/cart/checkout/${(await fillCart(owner)).id}`, card),
    convertOrderToDraft: async (_, { user }) => {
      await pendingOrder(user)
      return own("/cart/convert_to_draft")
    },
    applyPromoCode: async (_, { user }) => {
      await pendingOrder(user)
      return own("/cart/promo_code", { code: "UNKNOWN" })
    },
    listOrders: async ({ owner }) => own(`/orders?user_id=${owner.id}`),
    getOrder: async ({ owner }) => own(`/orders/${(await fillCart(owner)).id}`),
    refundOrder: async (w) => own(`/orders/${(await paidOrder(w)).id}/refund`, {}),
    overrideRefund: async (w) => own(`/orders/${(await paidOrder(w)).id}/refund_override`, booking()),
    listRefunds: async ({ owner }) => own(`/orders/${(await fillCart(owner)).id}/refunds`),
    overridePayment: async ({ owner }) =>
      own(`/orders/${(await pendingOrder(owner)).id}/payment_override`, booking()),
    resendOrderConfirmation: async (w) => own(`/orders/${(await paidOrder(w)).id}/resend_confirmation`),
    deletePaymentMethods: async (w) => own(`/payment_methods/${await newMethod(w)}`),
    setDefaultPaymentMethod: async (w) => own(`/payment_methods/${await newMethod(w)}/default`),
    listCodes: async ({ organization }) => [
      { path: "/codes" },
      ofOrganization(`/codes?organization_id=${organization}`),
    ],
    createCode: async ({ organization }) => {
      const code = { name: "a code", code_type: "Discount", discount_in_cents: 5 }
      return [
        { path: "/codes", body: { ...code, redemption_code: randomUUID() } },
        ofOrganization("/codes", { ...code, redemption_code: randomUUID(), organization_id: organization }),
      ]
    },
    deleteCode: async (w) => ofOrganization(`/codes/${await newCode(w)}`),
    activateRandomYatCode: async (w) => {
      const body = { name: "Welcome", code_type: "RandomYat" }
      const { id } = await done("POST", "/codes", admin(w), body)
      const signed = { nonce: "n", pubkey: newPubkey(), signature: "00".repeat(64) }
      return own(`/codes/${id}/random_yat`, signed)
    },
    addPubkeyForCode: async (w) =>
      ofOrganization(`/codes/${await newCode(w)}/pubkeys/${newPubkey()}?kind=ed25519`),
    revokePubkeyForCode: async (w) => {
      const path = `/codes/${await newCode(w)}/pubkeys/${newPubkey()}`
      await done("POST", `${path}?kind=ed25519`, w.members.OrgOwner)
      return ofOrganization(path)
    },
  }

  return {
    /** Whether there is a request for the operation. Operations without parameters and body need no builder. */
    has: ({ body, id, path }: Route): boolean =>
      builders[id] !== undefined || (body === undefined && !path.includes(":")),
    /** Whether the targets of the operation depend on the caller, for example the caller's cart. */
    areOfCaller: ({ id }: Route): boolean => (builders[id]?.length ?? 0) > 1,
    targetsOf: async (row: Route, world: World, caller: Caller): Promise<ReadonlyArray<Target>> => {
      const built = await (builders[row.id]?.(world, caller) ?? own(row.path))
      return Array.isArray(built) ? built : [built as Target]
    },
    send: (row: Route, caller: Caller, { body, path }: Target) =>
      service.call(row.method === "del" ? "DELETE" : row.method.toUpperCase(), path, {
        ...caller.options,
        ...(body === undefined ? {} : { body }),
      }),
  }
}

import type { World } from "../world.ts"

/** An organization with its branding, its members of every role, its keys and its OAuth clients. */
export const organizations = async (world: World): Promise<void> => {
  const admin = await world.admin()
  const { json: organization } = await world.call("createOrganization", {
    as: admin,
    json: { name: "Fuzz", partner_path: world.unique("fuzz"), return_link: "https://partner.example/back" },
  })
  const params = { id: organization.id as string }
  const people = {
    OrgOwner: await world.user("owner of an organization"),
    OrgController: await world.user("controller of an organization"),
    OrgMember: await world.user("member of an organization"),
  }
  for (const [role, { id }] of Object.entries(people))
    await world.call("putMember", { as: admin, params: { ...params, user_id: id }, json: { role } })
  const as = people.OrgOwner
  await world.call("listOrganizations", { as })
  await world.call("showOrganization", { as, params })
  await world.call("updateOrganization", { as, params, json: { name: "Fuzz & Co" } })
  await world.call("setBranding", {
    as,
    params,
    json: { currencies: ["BTC"], return_link: "https://partner.example/back", requires_email: false },
  })
  await world.call("getBranding", { as, params })
  await world.call("setCodeBudget", { as: admin, params, json: { budget_in_cents: 10_000 } })
  await world.call("getCodeBudget", { as, params })
  await world.call("listMembers", { as, params })
  await world.call("removeMember", { as, params: { ...params, user_id: people.OrgMember.id } })
  const { json: pubkey } = await world.call("createWallet", { as })
  const keyParams = { ...params, pubkey: pubkey as string }
  await world.call("giveOrganizationPubkey", { as: admin, params: keyParams })
  await world.call("listOrganizationPubkeys", { as, params })
  await world.call("takeOrganizationPubkey", { as: admin, params: keyParams })
  const { json: client } = await world.call("createOauthClient", {
    as: admin,
    json: { name: "Fuzz App", redirect_uris: ["https://app.example/back"], organization_id: params.id },
  })
  const clientParams = { client_id: client.client_id as string }
  await world.call("listOauthClients", { as: admin })
  await world.call("updateOauthClient", { as: admin, params: clientParams, json: { name: "Fuzz Chat" } })
  await world.call("rotateOauthClientSecret", { as: admin, params: clientParams })
  await world.call("deleteOauthClient", { as: admin, params: clientParams })
  await world.call("deleteOrganization", { as: admin, params })
}

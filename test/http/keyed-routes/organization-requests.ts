import { randomBytes } from "node:crypto"
import type { TestService } from "../../fixtures/service.ts"
import type { Prepare } from "./keyed-request.ts"

const name = () => `n-${randomBytes(6).toString("hex")}`

/** Creates an organization with an owner who has a confirmed email. */
const organization = async (service: TestService) => {
  const [admin, owner] = [await service.user({ role: "Admin" }), await service.user()]
  const { body } = await service.call("POST", "/organizations", {
    token: admin.token,
    body: { name: "Acme", partner_path: name(), return_link: "https://acme.example/before" },
  })
  const path = `/organizations/${body.id}`
  await service.call("PUT", `${path}/members/${owner.id}`, {
    token: admin.token,
    body: { role: "OrgOwner" },
  })
  return { admin, owner, id: body.id as string, path }
}

const client = async (service: TestService) => {
  const admin = await service.user({ role: "Admin" })
  const { body } = await service.call("POST", "/oauth_clients", {
    token: admin.token,
    body: { name: "an application", redirect_uris: ["https://app.example/back"] },
  })
  return { token: admin.token, path: `/oauth_clients/${body.client_id}` }
}

export const organizationRequests: Record<string, Prepare> = {
  createOrganization: async (service) => {
    const { token } = await service.user({ role: "Admin" })
    const body = { name: "Acme", partner_path: name(), return_link: "https://acme.example/done" }
    return { method: "POST", path: "/organizations", options: { token, body } }
  },
  updateOrganization: async (service) => {
    const { admin, path } = await organization(service)
    const body = {
      name: "New",
      partner_path: name(),
      return_link: "https://acme.example/after",
      client_fee_basis_points: 10,
    }
    return { method: "PATCH", path, options: { token: admin.token, body } }
  },
  deleteOrganization: async (service) => {
    const { admin, path } = await organization(service)
    return { method: "DELETE", path, options: { token: admin.token } }
  },
  setBranding: async (service) => {
    const { admin, path } = await organization(service)
    const body = { currencies: ["BTC"], return_link: "https://acme.example/after" }
    return { method: "PUT", path: `${path}/branding`, options: { token: admin.token, body } }
  },
  putMember: async (service) => {
    const { owner, path } = await organization(service)
    const { email, id } = await service.user()
    return {
      method: "PUT",
      path: `${path}/members/${id}`,
      options: { token: owner.token, body: { role: "OrgMember", email } },
    }
  },
  removeMember: async (service) => {
    const { admin, owner, path } = await organization(service)
    const { id } = await service.user()
    await service.call("PUT", `${path}/members/${id}`, { token: admin.token, body: { role: "OrgOwner" } })
    // The owner removes themselves, so they have no role in the organization when the request is repeated.
    return { method: "DELETE", path: `${path}/members/${owner.id}`, options: { token: owner.token } }
  },
  giveOrganizationPubkey: async (service) => {
    const { admin, owner, path } = await organization(service)
    const { body } = await service.call("POST", "/pubkeys", { token: owner.token })
    return { method: "PUT", path: `${path}/pubkeys/${body}`, options: { token: admin.token } }
  },
  takeOrganizationPubkey: async (service) => {
    const { admin, owner, path } = await organization(service)
    const { body } = await service.call("POST", "/pubkeys", { token: owner.token })
    await service.call("PUT", `${path}/pubkeys/${body}`, { token: admin.token })
    return { method: "DELETE", path: `${path}/pubkeys/${body}`, options: { token: admin.token } }
  },
  setCodeBudget: async (service) => {
    const { admin, path } = await organization(service)
    const body = { budget_in_cents: 100 }
    return { method: "PUT", path: `${path}/code_budget`, options: { token: admin.token, body } }
  },
  createOauthClient: async (service) => {
    const { admin, id } = await organization(service)
    const body = {
      name: "an application",
      redirect_uris: ["https://app.example/back"],
      organization_id: id,
    }
    return { method: "POST", path: "/oauth_clients", options: { token: admin.token, body } }
  },
  updateOauthClient: async (service) => {
    const { path, token } = await client(service)
    return { method: "PATCH", path, options: { token, body: { name: "Acme" } } }
  },
  rotateOauthClientSecret: async (service) => {
    const { path, token } = await client(service)
    return { method: "POST", path: `${path}/secret`, options: { token } }
  },
  deleteOauthClient: async (service) => {
    const { path, token } = await client(service)
    return { method: "DELETE", path, options: { token } }
  },
}

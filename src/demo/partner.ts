import { Effect } from "effect"
import { AppConfig } from "../config.ts"
import { Members } from "../store/members.ts"
import { OauthClients } from "../store/oauth-clients.ts"
import { Organizations } from "../store/organizations.ts"
import { UserAdmin } from "../store/user-admin.ts"
import type { DemoPart } from "./part.ts"
import { bob } from "./people.ts"

const partnerPath = "demo-wallet"
const clientId = "demo-app"
const clientSecret = "demo-app-secret"
const redirectUri = "http://localhost:8080/callback"

const ensurePartner = Effect.gen(function* () {
  const { baseUrl } = yield* AppConfig
  const organizations = yield* Organizations
  const known = yield* organizations.findByPartnerPath(partnerPath)
  const id =
    known?.organization_id ??
    (yield* organizations.create({ name: "Demo Wallet", partner_path: partnerPath, return_link: baseUrl })).id
  yield* organizations.setBranding(id, {
    currencies: ["BTC", "ETH"],
    return_link: `${baseUrl}/?returned=1`,
    requires_email: true,
  })
  return id
})

const seed = Effect.gen(function* () {
  const { baseUrl } = yield* AppConfig
  const organizationId = yield* ensurePartner
  const owner = yield* UserAdmin.use((users) => users.findIdByEmail(bob.email))
  if (owner !== undefined) {
    yield* Members.use((members) => members.put(organizationId, owner, "OrgOwner", true))
  }
  yield* OauthClients.use((clients) =>
    clients.create(
      {
        name: "Demo App",
        organization_id: organizationId,
        redirect_uris: [redirectUri, `${baseUrl}/`],
      },
      { clientId, secret: clientSecret },
    ),
  )
})

export const demoPartner: DemoPart<Effect.Services<typeof seed>> = {
  name: "partner",
  seed,
  lines: ({ authUrl, webUrl }) => [
    `partner  ${webUrl}/partner/${partnerPath}`,
    `oauth    ${authUrl}/authorize?response_type=code&client_id=${clientId}&redirect_uri=${encodeURIComponent(redirectUri)}&scope=svc&state=demo`,
    `         client_secret ${clientSecret}`,
  ],
}

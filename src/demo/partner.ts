import { Effect } from "effect"
import { AppConfig } from "../config.ts"
import { DemoItems } from "../store/demo-items.ts"
import { Members } from "../store/members.ts"
import { clientSecretHash, OauthClients } from "../store/oauth-clients.ts"
import { Organizations } from "../store/organizations.ts"
import { UserAdmin } from "../store/user-admin.ts"
import type { DemoPart } from "./part.ts"
import { bob } from "./people.ts"
import { demoSecret } from "./secrets.ts"

const partnerPath = "demo-wallet"
const clientId = "demo-app"
const redirectUri = "http://localhost:8080/callback"

const ensurePartner = Effect.gen(function* () {
  const { baseUrl } = yield* AppConfig
  const organizations = yield* Organizations
  const known = yield* organizations.findByPartnerPath(partnerPath)
  const facts = { name: "Demo Wallet", partner_path: partnerPath, return_link: baseUrl }
  const note = DemoItems.use((items) => items.note({ kind: "organization", name: partnerPath }))
  const id = known?.organization_id ?? (yield* organizations.create(facts, yield* note)).id
  yield* organizations.setBranding(id, {
    currencies: ["BTC", "ETH"],
    return_link: `${baseUrl}/?returned=1`,
    requires_email: true,
  })
  return id
})

const seed = Effect.gen(function* () {
  const config = yield* AppConfig
  const { from, secret } = demoSecret(config, clientId)
  const organizationId = yield* ensurePartner
  const owner = yield* UserAdmin.use((users) => users.findIdByEmail(bob.email))
  if (owner !== undefined) {
    yield* Members.use((members) => members.put(organizationId, owner, "OrgOwner", true))
  }
  yield* DemoItems.use((items) =>
    items.note({
      kind: "client",
      name: clientId,
      target: clientId,
      secret: { hash: clientSecretHash(secret), from },
    }),
  )
  yield* OauthClients.use((clients) =>
    clients.create(
      {
        name: "Demo App",
        organization_id: organizationId,
        redirect_uris: [redirectUri, `${config.baseUrl}/`],
      },
      { clientId, secret },
    ),
  )
})

export const demoPartner: DemoPart<Effect.Services<typeof seed>> = {
  name: "partner",
  seed,
  lines: (config) => [
    `partner  ${config.webUrl}/partner/${partnerPath}`,
    `oauth    ${config.authUrl}/authorize?response_type=code&client_id=${clientId}&redirect_uri=${encodeURIComponent(redirectUri)}&scope=svc&state=demo`,
    `         client_secret ${demoSecret(config, clientId).secret}`,
  ],
}

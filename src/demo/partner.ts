import { Effect } from "effect"
import { isPartnerLink } from "../../schema/web-link.ts"
import { UserList } from "../accounts/user-list-store.ts"
import { AppConfig } from "../config/read-config.ts"
import { CodeBudgets } from "../organizations/code-budget-store.ts"
import { Members } from "../organizations/member-store.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { viewOf } from "../organizations/written-view.ts"
import { clientSecretHash, OauthClients } from "../sign-in/oauth/oauth-client-store.ts"
import { DemoItems } from "./demo-item-store.ts"
import { demoBudgetCents, partnerReturnPath } from "./partner-facts.ts"
import { bob } from "./people.ts"
import { demoSecret } from "./secrets.ts"
import type { SeedStep } from "./seed-step.ts"

const partnerPath = "demo-wallet"
const clientId = "demo-app"
const redirectUri = "http://localhost:8080/callback"

const ensurePartner = Effect.gen(function* () {
  const config = yield* AppConfig
  const { baseUrl } = config
  const organizations = yield* Organizations
  const known = yield* organizations.findByPartnerPath(partnerPath)
  // Without a return link the flows end with a page of this service. That is the case if BASE_URL is http on a network.
  const link = isPartnerLink(baseUrl, config) ? { return_link: `${baseUrl}${partnerReturnPath}` } : {}
  const facts = { name: "Demo Wallet", partner_path: partnerPath, ...link }
  const note = DemoItems.use((items) => items.note({ kind: "organization", name: partnerPath }))
  const id = known?.organization_id ?? viewOf((yield* organizations.create(facts, yield* note)).outcome).id
  const branded = yield* organizations.setBranding(id, {
    currencies: ["BTC", "ETH"],
    ...link,
    requires_email: true,
  })
  yield* organizations.changed(branded.outcome)
  const budgets = yield* CodeBudgets
  if ((yield* budgets.get(id)).budget_in_cents === 0) yield* budgets.set(id, demoBudgetCents)
  return id
})

const seed = Effect.gen(function* () {
  const config = yield* AppConfig
  const { from, secret } = demoSecret(config, clientId)
  const organizationId = yield* ensurePartner
  const owner = yield* UserList.use((users) => users.findIdByEmail(bob.email))
  if (owner !== undefined) {
    const members = yield* Members
    const { outcome } = yield* members.put(organizationId, owner, "OrgOwner", true)
    yield* members.changed(outcome)
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

export const demoPartner: SeedStep<Effect.Services<typeof seed>> = {
  name: "partner",
  seed,
  lines: (config) => [
    `partner  ${config.webUrl}/partner/${partnerPath}`,
    `oauth    ${config.authUrl}/authorize?response_type=code&client_id=${clientId}&redirect_uri=${encodeURIComponent(redirectUri)}&scope=svc&state=demo`,
    `         client_secret ${demoSecret(config, clientId).secret}`,
  ],
}

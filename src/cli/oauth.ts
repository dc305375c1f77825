import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { NewOauthClient } from "../../schema/sign-in/oauth-client.ts"
import { clientWithSecret, OauthClients } from "../sign-in/oauth/oauth-client-store.ts"
import { type Command, checked, everyPage, optionOf, organizationId } from "./command-line/command.ts"

const list: Command = {
  name: "oauth list",
  formerName: "clients list",
  words: [],
  summary: "List all OAuth clients",
  run: () =>
    OauthClients.use((clients) => everyPage({ dir: "Asc", sort: "only" }, clients.list)).pipe(
      Effect.map((clients) =>
        clients.map(({ client_id, name, organization_id = "", redirect_uris }) => ({
          client_id,
          name,
          organization_id,
          redirect_uris: redirect_uris.join(" "),
        })),
      ),
    ),
}

const create: Command = {
  name: "oauth create",
  formerName: "clients create",
  words: ["name"],
  options: ["redirect-uri", "organization"],
  example: '"My app" --redirect-uri https://app.example/callback --organization wallet-co',
  summary: "Create an OAuth client and show its secret once. --redirect-uri can be repeated",
  run: (input) =>
    Effect.gen(function* () {
      const organization = optionOf(input, "organization")
      const facts = yield* checked(NewOauthClient, {
        name: input.words[0],
        redirect_uris: input.options["redirect-uri"] ?? [],
        organization_id: organization === undefined ? null : yield* organizationId(organization),
      })
      const { outcome } = yield* OauthClients.use((clients) => clients.create(facts))
      return clientWithSecret(outcome)
    }),
}

const rotate: Command = {
  name: "oauth rotate",
  formerName: "clients rotate",
  words: ["client_id"],
  summary: "Create a new secret and show it once. The old secret stops working",
  run: ({ words: [id = ""] }) =>
    OauthClients.use((clients) => clients.rotate(id)).pipe(
      Effect.map(({ outcome }) => clientWithSecret(outcome)),
    ),
}

const remove: Command = {
  name: "oauth delete",
  formerName: "clients delete",
  words: ["client_id"],
  summary: "Delete an OAuth client and revoke its tokens",
  run: ({ words: [id = ""] }) =>
    OauthClients.use((clients) => Effect.flatMap(atMostOnce(clients.remove(id)), clients.removed)),
}

export const oauthCommands: ReadonlyArray<Command> = [list, create, rotate, remove]

import { Layer } from "effect"
import { AuthorizationCodes } from "./oauth/authorization-codes.ts"
import { OauthClients } from "./oauth/oauth-client-store.ts"

/** Services of the authorization-code flow: OAuth clients, authorization codes and grants. */
export const signIn = Layer.mergeAll(AuthorizationCodes.layer, OauthClients.layer)

import { Layer } from "effect"
import { AuthorizationCodes } from "./oauth/authorization-codes.ts"
import { GrantedApplications } from "./oauth/granted-application-store.ts"
import { OauthClients } from "./oauth/oauth-client-store.ts"

/** Services of the authorization-code flow: OAuth clients, authorization codes, grants and granted applications. */
export const signIn = Layer.mergeAll(AuthorizationCodes.layer, GrantedApplications.layer, OauthClients.layer)

import { Layer } from "effect"
import { AuthorizationCodes } from "./oauth/authorization-codes.ts"
import { OauthClients } from "./oauth/oauth-client-store.ts"

/** Sign-in for other applications: their registration and the codes they exchange for tokens. */
export const signIn = Layer.mergeAll(AuthorizationCodes.layer, OauthClients.layer)

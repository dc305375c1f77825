import { Data, Effect, Schema } from "effect"
import type { Unavailable } from "../../../schema/errors.ts"
import type { OauthClient } from "../../../schema/sign-in/oauth-client.ts"
import { text } from "../../../schema/wire-format.ts"
import { dropEmpty, type Form, readParameters } from "../../http/request/form.ts"
import { OauthClients } from "./oauth-client-store.ts"

/**
 * The URL cannot be decoded, or the client or its redirect_uri is not registered. The user sees an error page and is
 * not redirected.
 */
export class ClientUntrusted extends Data.TaggedError("ClientUntrusted")<{ readonly error: string }> {}

/**
 * The client is registered, but its request is invalid. The error is sent to the client's redirect_uri (RFC 6749
 * section 4.1.2.1).
 */
export class AuthorizationFault extends Data.TaggedError("AuthorizationFault")<{
  readonly redirectUri: string
  readonly state: string | undefined
  readonly error: "invalid_request" | "unsupported_response_type" | "invalid_scope"
  readonly description: string
}> {}

export interface AuthorizationRequest {
  readonly client: OauthClient
  readonly redirectUri: string
  readonly state: string | undefined
  /** The `code_challenge` of PKCE, always with the method S256. Undefined if the client does not use PKCE. */
  readonly challenge: string | undefined
  /** The emoji id that the request names (parameter `svc`). */
  readonly wanted: string | undefined
  /** The parameters of the request. Emailed links and forms repeat them. */
  readonly parameters: Form
}

const maxStateCharacters = 50
const challengePattern = /^[A-Za-z0-9_-]{43}$/
const parameters = {
  response_type: Schema.Literals(["code"]),
  client_id: Schema.String,
  redirect_uri: Schema.String,
  scope: Schema.optionalKey(Schema.Literals(["svc"])),
  state: Schema.optionalKey(text(maxStateCharacters)),
  code_challenge: Schema.optionalKey(Schema.String),
  code_challenge_method: Schema.optionalKey(Schema.Literals(["S256"])),
}
const known = Object.keys(parameters)

/**
 * Describes the parameters in the OpenAPI document, and is not used to validate them. RFC 6749 requires that errors
 * are reported to the client or shown to the user.
 */
export const authorizationQuery = { ...parameters, svc: Schema.optionalKey(Schema.String) }
/** The parameters of an emailed link. If there is no client_id, the user continues at a path of this site. */
export const landingQuery = {
  refresh_token: Schema.optionalKey(Schema.String),
  client_id: Schema.optionalKey(Schema.String),
  redirect_uri: Schema.optionalKey(Schema.String),
  scope: parameters.scope,
  state: parameters.state,
  redirect: Schema.optionalKey(Schema.String),
}

const findFault = (values: Form, repeated: ReadonlySet<string>) => {
  const repeatedName = known.find((name) => repeated.has(name))
  if (repeatedName !== undefined)
    return ["invalid_request", `${repeatedName} is sent more than once`] as const
  if ([...(values["state"] ?? "")].length > maxStateCharacters) {
    return ["invalid_request", `state must have at most ${maxStateCharacters} characters`] as const
  }
  const type = values["response_type"] ?? ""
  if (type === "") return ["invalid_request", "response_type is missing"] as const
  if (type !== "code") return ["unsupported_response_type", "response_type must be code"] as const
  const scope = values["scope"]
  if (scope !== undefined && scope !== "svc") return ["invalid_scope", "scope must be svc"] as const
  const { code_challenge: challenge, code_challenge_method: method } = values
  if (challenge === undefined && method === undefined) return undefined
  if (method !== "S256") return ["invalid_request", "code_challenge_method must be S256"] as const
  return challengePattern.test(challenge ?? "")
    ? undefined
    : (["invalid_request", "code_challenge must be a SHA-256 hash in base64url"] as const)
}

/**
 * Reads an authorization request. The client and its redirect_uri are checked first, by exact comparison. Other errors
 * can be reported only to a registered redirect_uri, so they are checked afterwards.
 */
export const readAuthorizationRequest = (
  search: string,
): Effect.Effect<AuthorizationRequest, ClientUntrusted | AuthorizationFault | Unavailable, OauthClients> =>
  Effect.gen(function* () {
    const read = readParameters(search)
    if (read === undefined)
      return yield* new ClientUntrusted({ error: "The URL has invalid percent-encoding." })
    const { repeated } = read
    const values = dropEmpty(read.values)
    const clientId = repeated.has("client_id") ? "" : (values["client_id"] ?? "")
    const client =
      clientId === "" || clientId.length > 64
        ? undefined
        : yield* OauthClients.use((clients) => clients.find(clientId))
    if (client === undefined) {
      return yield* new ClientUntrusted({
        error: "The application that sent you here is not registered (unknown client_id).",
      })
    }
    const redirectUri = values["redirect_uri"] ?? ""
    if (repeated.has("redirect_uri") || !client.redirect_uris.includes(redirectUri)) {
      return yield* new ClientUntrusted({
        error: `The redirect_uri of this request is not registered for ${client.name}.`,
      })
    }
    const fault = findFault(values, repeated)
    const { state } = values
    const isEchoed = state !== undefined && !repeated.has("state") && [...state].length <= maxStateCharacters
    if (fault !== undefined) {
      const [error, description] = fault
      return yield* new AuthorizationFault({
        redirectUri,
        state: isEchoed ? state : undefined,
        error,
        description,
      })
    }
    return {
      client,
      redirectUri,
      state,
      challenge: values["code_challenge"],
      wanted: values["svc"],
      parameters: Object.fromEntries(
        known.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
      ),
    }
  })

/** Adds query parameters to a URL and keeps the parameters that it already has. Undefined values are left out. */
export const callbackUrl = (address: string, added: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams(
    Object.entries(added).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString()
  if (query === "") return address
  const [path = "", fragment] = address.split("#", 2)
  const joint = path.includes("?") ? (/[?&]$/.test(path) ? "" : "&") : "?"
  return `${path}${joint}${query}${fragment === undefined ? "" : `#${fragment}`}`
}

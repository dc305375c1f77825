import { Data, Effect, Schema } from "effect"
import type { Unavailable } from "../../../schema/errors.ts"
import type { OauthClient } from "../../../schema/sign-in/oauth-client.ts"
import { text } from "../../../schema/wire-format.ts"
import { dropEmpty, type Form, readParameters } from "../../http/request/form.ts"
import { OauthClients } from "./oauth-client-store.ts"

/** Who sent the browser is not known for sure: the person is told, and nobody is sent anywhere. */
export class ClientUntrusted extends Data.TaggedError("ClientUntrusted")<{ readonly error: string }> {}

/** The client is known and wrong: it is told so by its own redirect_uri (RFC 6749 section 4.1.2.1). */
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
  /** PKCE, always S256. */
  readonly challenge: string | undefined
  /** The id the sender names as chosen. */
  readonly wanted: string | undefined
  /** The request as it goes into a mailed link and into our own forms. */
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

/** For the document; what is wrong with a request is told to the application or the person, as RFC 6749 has it. */
export const authorizationQuery = { ...parameters, svc: Schema.optionalKey(Schema.String) }
/** The same of a link that leads there; without a client it leads to a path of ours. */
export const landingQuery = {
  refresh_token: Schema.optionalKey(Schema.String),
  client_id: Schema.optionalKey(Schema.String),
  redirect_uri: Schema.optionalKey(Schema.String),
  scope: parameters.scope,
  state: parameters.state,
  redirect: Schema.optionalKey(Schema.String),
}

const findFault = (values: Form, repeated: ReadonlySet<string>) => {
  const twice = known.find((name) => repeated.has(name))
  if (twice !== undefined) return ["invalid_request", `${twice} is there more than once`] as const
  if ([...(values["state"] ?? "")].length > maxStateCharacters) {
    return ["invalid_request", `state has more than ${maxStateCharacters} characters`] as const
  }
  const type = values["response_type"] ?? ""
  if (type === "") return ["invalid_request", "response_type is missing"] as const
  if (type !== "code") return ["unsupported_response_type", "response_type is not code"] as const
  const scope = values["scope"]
  if (scope !== undefined && scope !== "svc") return ["invalid_scope", "the one scope is svc"] as const
  const { code_challenge: challenge, code_challenge_method: method } = values
  if (challenge === undefined && method === undefined) return undefined
  if (method !== "S256") return ["invalid_request", "code_challenge_method is not S256"] as const
  return challengePattern.test(challenge ?? "")
    ? undefined
    : (["invalid_request", "code_challenge is not a SHA-256 in base64url"] as const)
}

/**
 * Reads a request to authorize. First the client and its redirect_uri, letter by letter: until both are right nothing
 * else is looked at, because nobody could be told.
 */
export const readAuthorizationRequest = (
  search: string,
): Effect.Effect<AuthorizationRequest, ClientUntrusted | AuthorizationFault | Unavailable, OauthClients> =>
  Effect.gen(function* () {
    const read = readParameters(search)
    if (read === undefined)
      return yield* new ClientUntrusted({ error: "The address has bad percent-encoding." })
    const { repeated } = read
    const values = dropEmpty(read.values)
    const clientId = repeated.has("client_id") ? "" : (values["client_id"] ?? "")
    const client =
      clientId === "" || clientId.length > 64
        ? undefined
        : yield* OauthClients.use((clients) => clients.find(clientId))
    if (client === undefined) {
      return yield* new ClientUntrusted({ error: "The application that sent you is not registered here." })
    }
    const redirectUri = values["redirect_uri"] ?? ""
    if (repeated.has("redirect_uri") || !client.redirect_uris.includes(redirectUri)) {
      return yield* new ClientUntrusted({
        error: `The address to return to is not one that ${client.name} has registered.`,
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

/** The redirect_uri with what it is told; whatever it had of its own stays. */
export const callbackUrl = (address: string, told: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams(
    Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString()
  if (query === "") return address
  const [path = "", fragment] = address.split("#", 2)
  const joint = path.includes("?") ? (/[?&]$/.test(path) ? "" : "&") : "?"
  return `${path}${joint}${query}${fragment === undefined ? "" : `#${fragment}`}`
}

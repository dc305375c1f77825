import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { InvalidRequest, Unauthorized } from "../../../schema/errors.ts"
import { privately } from "../../accounts/login/routes.ts"
import { dropEmpty, type Form, readForm } from "../../http/request/form.ts"
import { formDecode } from "../../http/request/path.ts"
import { route } from "../../http/route.ts"
import { AuthorizationCodes } from "./authorization-codes.ts"
import { OauthClients } from "./oauth-client-store.ts"

const GrantResponse = Schema.Struct({
  access_token: Schema.String,
  refresh_token: Schema.String,
  token_type: Schema.Literals(["SvcAccessToken"]),
  expires_in: Schema.Int,
  scope: Schema.Literals(["svc"]),
}).annotate({ identifier: "GrantResponse" })

/**
 * Describes the form in the OpenAPI document, and is not used to validate it. Invalid forms are reported with the
 * error codes of RFC 6749.
 */
const GrantRequest = Schema.Struct({
  grant_type: Schema.Literals(["authorization_code", "refresh_token"]),
  client_id: Schema.optionalKey(Schema.String),
  client_secret: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(Schema.String),
  redirect_uri: Schema.optionalKey(Schema.String),
  code_verifier: Schema.optionalKey(Schema.String),
  refresh_token: Schema.optionalKey(Schema.String),
  scope: Schema.optionalKey(Schema.Literals(["svc"])),
}).annotate({ identifier: "GrantRequest" })

type TokenFault =
  | "invalid_request"
  | "invalid_grant"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "invalid_scope"
const fault = (oauth: TokenFault, error: string) => new InvalidRequest({ error, details: { oauth } })

const clientRefused = (error: string) =>
  new Unauthorized({
    error,
    details: { oauth: "invalid_client" },
    headers: { "WWW-Authenticate": 'Basic realm="token", charset="UTF-8"' },
  })

interface Credentials {
  readonly id: string
  readonly secret: string
}

/**
 * Reads a header of the form `Basic base64(id:secret)`. The client form-encodes the id and the secret before base64
 * (RFC 6749 section 2.3.1). Returns undefined if the header is malformed.
 */
const readBasic = (header: string): Credentials | undefined => {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]{1,2048})$/i.exec(header)?.[1]
  const text = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString()
  const colon = text.indexOf(":")
  const id = formDecode(text.slice(0, colon))
  const secret = formDecode(text.slice(colon + 1))
  return colon < 1 || id === undefined || secret === undefined ? undefined : { id, secret }
}

const credentialsOf = Effect.fnUntraced(function* (form: Form, authorization: string) {
  if (authorization === "") {
    const { client_id: id, client_secret: secret } = form
    return id && secret
      ? { id, secret }
      : yield* clientRefused(
          "Send client_id and client_secret in the form, or in an Authorization: Basic header.",
        )
  }
  const basic = readBasic(authorization)
  if (basic === undefined)
    return yield* clientRefused("The Authorization header must be Basic base64(client_id:client_secret).")
  if (form["client_secret"] !== undefined) {
    return yield* fault(
      "invalid_request",
      "Send client_secret in the form or in the Authorization header, not both.",
    )
  }
  if (form["client_id"] !== undefined && form["client_id"] !== basic.id) {
    return yield* fault("invalid_request", "client_id differs from the client in the Authorization header.")
  }
  return basic
})

const checkClient = Effect.fnUntraced(function* (form: Form, authorization: string) {
  const { id, secret } = yield* credentialsOf(form, authorization)
  const client = yield* OauthClients.use((clients) => clients.findBySecret(id.slice(0, 64), secret))
  return client ?? (yield* clientRefused("Incorrect client_id or client_secret."))
})

const required = (form: Form, name: string): Effect.Effect<string, InvalidRequest> => {
  const value = form[name]
  return value ? Effect.succeed(value) : Effect.fail(fault("invalid_request", `${name} is missing.`))
}

const token = route({
  id: "oauthToken",
  group: "authorization",
  summary: "Exchange a code or a refresh token for tokens",
  description:
    'RFC 6749. A code works once and for 60 seconds; a second use revokes its tokens. The access token reaches `GET /emoji_id`, with the id that the user chose, and public operations. Errors have the form `{"error", "error_description"}`.',
  method: "post",
  path: "/token",
  auth: "none",
  limit: "write",
  rawBody: true,
  body: GrantRequest,
  bodyLimitBytes: 16 * 1024,
  headers: ["authorization", "content-type"],
  errorBody: "oauth",
  sameOrigin: true,
  success: GrantResponse,
  errors: [Unauthorized],
  handler: ({ headers, rawBody }) =>
    Effect.gen(function* () {
      if (!/^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "")) {
        return yield* fault("invalid_request", "Send the body as application/x-www-form-urlencoded.")
      }
      const form = dropEmpty(yield* Effect.fromResult(readForm(rawBody)))
      const type = yield* required(form, "grant_type")
      const client = yield* checkClient(form, headers["authorization"] ?? "")
      const codes = yield* AuthorizationCodes
      if (type !== "authorization_code" && type !== "refresh_token") {
        return yield* fault(
          "unsupported_grant_type",
          "grant_type must be authorization_code or refresh_token.",
        )
      }
      if (type === "refresh_token" && form["scope"] && form["scope"] !== "svc") {
        return yield* fault("invalid_scope", "scope must be svc.")
      }
      const granted =
        type === "refresh_token"
          ? codes.refresh(client, yield* required(form, "refresh_token"))
          : codes.redeem(client, {
              code: yield* required(form, "code"),
              redirectUri: yield* required(form, "redirect_uri"),
              verifier: form["code_verifier"],
            })
      return privately(
        yield* atMostOnce(granted).pipe(
          Effect.flatMap(codes.exchanged),
          Effect.catchTag("GrantInvalid", ({ error }) => Effect.fail(fault("invalid_grant", error))),
        ),
      )
    }),
})

export const oauthToken = [token] as const

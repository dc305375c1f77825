import type { Route } from "../route.ts"
import type { Json } from "./json-schema.ts"

export const securitySchemes = {
  JWT: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "Bearer <ACCESS_TOKEN>" },
  apiKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "The API key, without a prefix" },
  two_factor: { type: "http", scheme: "bearer", description: "The access token of a sign-in session" },
}

export const security = (route: Route): ReadonlyArray<Json> => {
  const scopes = route.scope === undefined ? [] : [route.scope]
  switch (route.auth) {
    case "none":
      return []
    case "optional":
      return [{}, { JWT: scopes }, { apiKey: scopes }]
    case "two_factor":
      return [{ two_factor: scopes }]
    default:
      return [{ JWT: scopes }, { apiKey: scopes }]
  }
}

/** The value of WWW-Authenticate of a request without credentials (RFC 6750 section 3). */
export const bearerChallenge = 'Bearer realm="api"'

/** Matches the characters that RFC 6750 does not allow in error_description. */
const notAllowed = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g

/** The value of WWW-Authenticate of a request whose token is not valid. */
export const invalidTokenChallenge = (description: string): string =>
  `${bearerChallenge}, error="invalid_token", error_description="${description.replaceAll(notAllowed, "'")}"`

/** The value of WWW-Authenticate of a request whose token does not have the scope. */
export const missingScopeChallenge = (scope: string): string =>
  `${bearerChallenge}, error="insufficient_scope", scope="${scope}"`

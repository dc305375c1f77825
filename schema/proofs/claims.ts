import { createHash } from "node:crypto"

/** The `typ` of the header, so that no other text that is signed with the same key is accepted as a proof. */
export const proofType = "emoji-id-proof"

/**
 * What was asked about the id: the operation, and then the parameters that select what it returns, as they were sent. So
 * the answer to one request cannot be used for another one.
 */
export type ProvenRequest = readonly [
  form: "lookup" | "ticker" | "payment" | "resolve" | "live",
  ...ReadonlyArray<string>,
]

interface CommonClaims {
  readonly origin: string
  /** The canonical form of the id. */
  readonly emoji_id: string
  readonly iat: number
  readonly exp: number
}

/** The claims of an answer about a registered id. */
export interface RegisteredClaims extends CommonClaims {
  readonly registered: true
  readonly version: number
  readonly records_root: string
  /** The public key that owns the id. Null if there is none. */
  readonly owner: string | null
  /** The signature of the root by this key, if the owner sent one with the last change of the records. */
  readonly owner_signature?: string
  readonly request: ProvenRequest
  /** The hash of the answer (see `answerHash`). */
  readonly answer: string
}

/** The claims that an id is not registered. */
export interface UnregisteredClaims extends CommonClaims {
  readonly registered: false
  readonly version: 0
}

/** The order in which RFC 8785 sorts the members of an object: by UTF-16 code units. */
const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1

/** Returns the JSON text of a value in the form of RFC 8785 (JCS). The value has no fractions. */
const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(byName)
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(",")}}`
}

/**
 * Returns the hash of an answer or an error: SHA-256 over its canonical JSON, in base64url. These members are left out: the
 * proof itself, the view counts and the id of the request, which change with every request, and the spelling that was
 * requested.
 */
export const answerHash = (answer: object): string => {
  const {
    emoji_id: _,
    proof: __,
    request_id: ___,
    stats: ____,
    ...signed
  } = answer as Readonly<Record<string, unknown>>
  return createHash("sha256").update(canonicalJson(signed)).digest("base64url")
}

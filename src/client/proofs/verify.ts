import type { ProofKeys } from "../api-types.ts"
import { verifyEd25519 } from "./ed25519.ts"
import { bytesOfHex, recordHash, recordsRoot } from "./records-root.ts"
import { isSameId } from "./same-id.ts"

/** What was asked: the operation, and the parameters that select what it returns, as they were sent. */
export type ProvenRequest = ReadonlyArray<string>

export interface VerifyOptions {
  /** The emoji id that was asked about, in any spelling. */
  readonly emojiId: string
  /** What was asked, for example `["resolve", "BTC"]`. The client knows it, and `emojiId`, of its own answers. */
  readonly request: ProvenRequest
  /** The highest version of the id that is known. An answer with a lower one is refused. */
  readonly atLeast?: number | undefined
  /** The time at which the proof must be valid, as Unix time in seconds. The default is now. */
  readonly now?: number | undefined
}

/** What a valid proof says. */
export interface Verified {
  /** The public address of the service that signed the answer. */
  readonly origin: string
  /** The `kid` of the key that signed the answer. */
  readonly keyId: string
  /** The canonical form of the id. */
  readonly emojiId: string
  readonly registered: boolean
  /** 0 if the id is not registered. Store it, and pass it as `atLeast` the next time. */
  readonly version: number
  /** The Merkle root over all records of the id, as hex. Null if the id is not registered. */
  readonly recordsRoot: string | null
  /** The public key that owns the id. Null if there is none. */
  readonly owner: string | null
  /** Whether the owner has signed the records with this key. */
  readonly isSignedByOwner: boolean
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** The failed check. docs/verification.md describes them, in this order. */
export type ProofFault =
  | "malformed"
  | "unknown_key"
  | "bad_signature"
  | "wrong_origin"
  | "wrong_id"
  | "expired"
  | "old_version"
  | "wrong_request"
  | "altered_answer"
  | "altered_records"
  | "bad_owner_signature"

const messages: Readonly<Record<ProofFault, string>> = {
  malformed: "The answer has no readable proof.",
  unknown_key: "The proof is signed with a key that is not published.",
  bad_signature: "The signature of the proof is not valid.",
  wrong_origin: "The proof was made by another service.",
  wrong_id: "The proof is about another emoji id.",
  expired: "The proof is not valid at this time.",
  old_version: "The answer is older than one that was seen before.",
  wrong_request: "The proof belongs to the answer to another request.",
  altered_answer: "The answer is not the one that was signed.",
  altered_records: "The records are not the ones that were signed.",
  bad_owner_signature: "The signature of the owner is not valid.",
}

/** An answer that must not be trusted. */
export class ProofRefused extends Error {
  override readonly name = "ProofRefused"
  readonly code: ProofFault
  constructor(code: ProofFault) {
    super(messages[code])
    this.code = code
  }
}

interface Answer {
  readonly proof?: unknown
  readonly emoji_id?: unknown
  readonly status?: unknown
  readonly address?: unknown
  readonly result?: unknown
  readonly version?: unknown
}

interface Claims {
  readonly origin: string
  readonly emoji_id: string
  readonly registered: boolean
  readonly version: number
  readonly records_root?: string
  readonly owner?: string | null
  readonly owner_signature?: string
  readonly request?: ProvenRequest
  readonly answer?: string
  readonly iat: number
  readonly exp: number
}

/** How far the clocks of the service and of the wallet may differ, in seconds. */
const skew = 60

const refuseUnless = (isTrue: boolean, code: ProofFault): void => {
  if (!isTrue) throw new ProofRefused(code)
}

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  )
const base64urlOf = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

const parsePart = (part: string | undefined): unknown =>
  JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(part ?? "")))

const parse = (proof: unknown) => {
  try {
    const text = String(proof)
    const parts = text.split(".")
    const [head, body, signature] = parts
    const header = parsePart(head) as { readonly alg: string; readonly kid: string; readonly typ: string }
    refuseUnless(
      parts.length === 3 && header.alg === "EdDSA" && header.typ === "emoji-id-proof" && !("crit" in header),
      "malformed",
    )
    const claims = parsePart(body) as Claims
    const signed = new TextEncoder().encode(`${head}.${body}`)
    return { kid: header.kid, claims, signed, signature: bytesOf(signature ?? "") }
  } catch {
    throw new ProofRefused("malformed")
  }
}

/** The canonical JSON of RFC 8785, for the values that answers contain. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = value as Readonly<Record<string, unknown>>
  return `{${Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(members[name])}`)
    .join()}}`
}

const hashOf = async (answer: object): Promise<string> => {
  const {
    emoji_id: _,
    proof: __,
    request_id: ___,
    stats: ____,
    ...signed
  } = answer as Record<string, unknown>
  const text = new TextEncoder().encode(canonical(signed))
  return base64urlOf(new Uint8Array(await crypto.subtle.digest("SHA-256", text)))
}

const isDenial = ({ address, result, status }: Answer): boolean =>
  status !== true && address === undefined && (result === undefined || canonical(result) === "[]")

/** Whether the answer has all records of the id, so that its root can be computed. */
const isWhole = ([form, ...parameters]: ProvenRequest): boolean =>
  (form === "lookup" || form === "live") && parameters.length === 0

const checkRecords = (answer: Answer, root: string): void => {
  const records = answer.result as ReadonlyArray<{ readonly tag: string; readonly data: string }>
  refuseUnless(recordsRoot(records.map(({ data, tag }) => recordHash(tag, data))) === root, "altered_records")
}

const checkAnswer = async (answer: Answer, claims: Claims, request: ProvenRequest): Promise<boolean> => {
  const { owner, owner_signature, records_root = "" } = claims
  refuseUnless(canonical(claims.request) === canonical(request), "wrong_request")
  refuseUnless((await hashOf(answer)) === claims.answer, "altered_answer")
  if (isWhole(request)) checkRecords(answer, records_root)
  if (owner_signature === undefined) return false
  const isSigned = await verifyEd25519(
    bytesOfHex(owner ?? ""),
    bytesOfHex(records_root),
    bytesOfHex(owner_signature),
  )
  refuseUnless(isSigned, "bad_owner_signature")
  return true
}

/**
 * Checks the proof of an answer with the published keys, without a connection. Returns what the proof says. Throws
 * `ProofRefused` if the answer must not be trusted.
 */
export const verifyAnswer = async (
  { keys, origin }: Pick<ProofKeys, "keys" | "origin">,
  answer: object,
  { atLeast = 0, emojiId, now = Date.now() / 1000, request }: VerifyOptions,
): Promise<Verified> => {
  if (crypto.subtle === undefined)
    throw new Error("Proofs are checked with WebCrypto, which browsers offer only to pages over HTTPS.")
  const given: Answer = answer
  const { claims, kid, signature, signed } = parse(given.proof)
  const key = keys.find((one) => one.kid === kid)
  if (key === undefined) throw new ProofRefused("unknown_key")
  refuseUnless(await verifyEd25519(bytesOf(key.x), signed, signature), "bad_signature")
  const { emoji_id, exp, iat, owner = null, records_root = null, registered, version } = claims
  refuseUnless(claims.origin === origin, "wrong_origin")
  refuseUnless(isSameId(emojiId, emoji_id), "wrong_id")
  refuseUnless(given.emoji_id === undefined || isSameId(String(given.emoji_id), emoji_id), "wrong_id")
  refuseUnless(iat <= now + skew && now < exp, "expired")
  refuseUnless(key.not_before <= iat && (key.not_after === null || exp <= key.not_after), "expired")
  refuseUnless(version >= atLeast, "old_version")
  if (!registered) refuseUnless(isDenial(given), "altered_answer")
  const isSignedByOwner = registered && (await checkAnswer(given, claims, request))
  return {
    origin,
    keyId: kid,
    emojiId: emoji_id,
    registered,
    version,
    recordsRoot: records_root,
    owner,
    isSignedByOwner,
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
  }
}

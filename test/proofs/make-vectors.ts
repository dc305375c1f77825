import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto"
import { recordDataBytes, recordHash } from "../../schema/directory/records/record.ts"
import { answerHash } from "../../schema/proofs/claims.ts"
import { merkleRoot } from "../../src/directory/merkle.ts"

/** Returns the private key whose seed is the SHA-256 of the name. It is published, so that anybody can make vectors. */
const keyOf = (name: string): KeyObject => {
  const seed = createHash("sha256").update(name).digest()
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex")
  return createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" })
}
const publicOf = (key: KeyObject): string => String(key.export({ format: "jwk" }).x)

const origin = "https://directory.example"
const current = keyOf("vectors: current key")
const former = keyOf("vectors: former key")
const foreign = keyOf("vectors: a key that is not published")
const owner = keyOf("vectors: owner")
const ownerHex = Buffer.from(publicOf(owner), "base64url").toString("hex")

const rotatedAt = 1_790_000_000
export const now = 1_800_000_000
const jwk = (key: KeyObject, kid: string, not_before: number, not_after: number | null) => ({
  kty: "OKP",
  crv: "Ed25519",
  x: publicOf(key),
  kid,
  use: "sig",
  alg: "EdDSA",
  not_before,
  not_after,
})
const document = {
  origin,
  keys: [jwk(current, "current", rotatedAt, null), jwk(former, "former", 1_780_000_000, rotatedAt + 600)],
}

type Members = Readonly<Record<string, unknown>>
interface Claimed {
  readonly header?: Members
  readonly claims?: Members
  readonly key?: KeyObject
}

const id = "🚀🌊❤️"
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const jws = ({ claims = {}, header = {}, key = current }: Claimed): string => {
  const head = encode({ alg: "EdDSA", kid: "current", typ: "emoji-id-proof", ...header })
  const signed = `${head}.${encode({ origin, emoji_id: id, ...claims })}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`
}

const record = (tag: string, data: string) => {
  const number = Number.parseInt(tag, 16)
  return { tag, data, hash: recordHash(number, recordDataBytes(number, data)) }
}
const bitcoin = record("0x1003", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq|main||t")
const ethereum = record("0x1004", "d8da6bf26964af9d7eed9e03e53415d37aa96045|savings")
const nick = record("0x0005", 'Küche 🍳 "a\\b"\u2028\u007f')
const pubkey = record(
  "0x0101",
  "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f7075 11a".replace(" ", ""),
)
const records = [bitcoin, ethereum, nick, pubkey]
const root = merkleRoot(records.map(({ hash }) => hash))

const stats = [{ metric: "views", value: 7 }]
const lookup = { status: true, result: records, error: null, stats, version: 7 }
const times = { iat: now - 100, exp: now + 500 }
const facts = { registered: true, version: 7, records_root: root, owner: ownerHex, ...times }
const denial = jws({ claims: { registered: false, version: 0, ...times } })
const notRegistered = { error: "This emoji id is not registered." }

/** Signs an answer as the service does, with other claims where given. */
const proven = <A extends object>(
  answer: A,
  request: ReadonlyArray<string>,
  { claims, ...given }: Claimed = {},
) => ({
  ...answer,
  proof: jws({ ...given, claims: { ...facts, request, answer: answerHash(answer), ...claims } }),
})

const whole = ["lookup"]
const good = proven(lookup, whole)
const resolved = {
  status: true,
  asset: "BTC",
  network: "bitcoin",
  address: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
  record: { tag: bitcoin.tag, hash: bitcoin.hash },
  rule: "asset_record",
  warnings: [],
  error: null,
  version: 7,
}
const noAddress = {
  error: "This emoji id has no LTC address for litecoin.",
  code: "no_address",
  warnings: [],
  version: 7,
}
const resolveLitecoin = ["resolve", "LTC"]
const goodNoAddress = { ...proven(noAddress, resolveLitecoin), request_id: "6f1c" }
const goodResolved = proven(resolved, ["resolve", "BTC"])
const payments = {
  status: true,
  result: {
    "0x6300:\uff35\uff33\uff24:ETH": {
      address: ethereum.data.slice(0, 40),
      category: "0x6300",
      default: false,
    },
    "0x6300:💵:ETH": { address: ethereum.data.slice(0, 40), category: "0x6300", default: false },
  },
  error: null,
  version: 7,
}
const signedRoot = sign(null, Buffer.from(root, "hex"), owner).toString("hex")
const live = {
  emoji_id: id,
  canonical: id,
  status: true,
  pubkey: ownerHex,
  version: 7,
  error: null,
  result: records,
}
const changed = { ...lookup, owner_changed_at: "2027-01-15T07:00:00.000Z" }

interface Case {
  readonly name: string
  readonly answer: object
  readonly emoji_id?: string
  readonly request?: ReadonlyArray<string>
  readonly at_least?: number
  readonly now?: number
  readonly error?: string
  readonly expected?: {
    readonly registered: boolean
    readonly version: number
    readonly signed_by_owner: boolean
  }
}

const valid: ReadonlyArray<Case> = [
  { name: "a lookup", answer: good },
  { name: "a lookup: the view counts are not signed", answer: { ...good, stats: [] } },
  {
    name: "a lookup: the order of members has no meaning",
    answer: Object.fromEntries(Object.entries(good).toReversed()),
  },
  {
    name: "a lookup, requested with a skin tone, a heart of another colour and without U+FE0F",
    answer: good,
    emoji_id: "🚀🌊💜",
  },
  { name: "a lookup whose version is the lowest that is accepted", answer: good, at_least: 7 },
  {
    name: "a lookup of an id without records",
    answer: proven({ ...lookup, result: [] }, whole, {
      claims: { records_root: merkleRoot([]), owner: null },
    }),
  },
  { name: "a lookup soon after the id got a new owner", answer: proven(changed, whole) },
  {
    name: "a lookup with tags",
    answer: proven({ ...lookup, result: [bitcoin] }, ["lookup", "0x1003"]),
    request: ["lookup", "0x1003"],
  },
  {
    name: "the records of a ticker",
    answer: proven({ status: true, result: [bitcoin], error: null, version: 7 }, ["ticker", "BTC"]),
    request: ["ticker", "BTC"],
  },
  {
    name: "payment addresses, with names that UTF-16 and code points order differently",
    answer: proven(payments, ["payment"]),
    request: ["payment"],
  },
  { name: "a resolved address", answer: goodResolved, request: ["resolve", "BTC"] },
  {
    name: "the error that there is no address: the id of the request is not signed",
    answer: goodNoAddress,
    request: resolveLitecoin,
  },
  {
    name: "an answer of a batch: the requested spelling is not signed",
    answer: { emoji_id: "🚀🌊💜", ...good },
  },
  { name: "a live state", answer: proven(live, ["live"]), request: ["live"] },
  {
    name: "records that the owner has signed",
    answer: proven(lookup, whole, { claims: { owner_signature: signedRoot } }),
    expected: { registered: true, version: 7, signed_by_owner: true },
  },
  {
    name: "a former key, while its last proofs are valid",
    answer: proven(lookup, whole, {
      key: former,
      header: { kid: "former" },
      claims: { iat: rotatedAt - 100, exp: rotatedAt + 500 },
    }),
    now: rotatedAt + 400,
  },
  { name: "a clock that is one minute behind", answer: good, now: now - 160 },
  {
    name: "an id that is not registered",
    answer: { ...notRegistered, proof: denial },
    expected: { registered: false, version: 0, signed_by_owner: false },
  },
  {
    name: "an id of a batch that is not registered",
    answer: {
      emoji_id: id,
      status: false,
      error: { code: "not_registered", reason: "" },
      stats: [],
      proof: denial,
    },
    expected: { registered: false, version: 0, signed_by_owner: false },
  },
]

const [head = "", body = "", signature = ""] = good.proof.split(".")
const altered = encode({ ...JSON.parse(Buffer.from(body, "base64url").toString()), version: 8 })

const refused: ReadonlyArray<Case & { readonly error: string }> = [
  { name: "no proof", answer: lookup, error: "malformed" },
  {
    name: "a proof that is not a compact JWS",
    answer: { ...good, proof: `${head}.${body}` },
    error: "malformed",
  },
  {
    name: "another algorithm",
    answer: proven(lookup, whole, { header: { alg: "none" } }),
    error: "malformed",
  },
  {
    name: "a text of another type, signed with the same key",
    answer: proven(lookup, whole, { header: { typ: "JWT" } }),
    error: "malformed",
  },
  {
    name: "a critical header",
    answer: proven(lookup, whole, { header: { crit: ["b64"], b64: false } }),
    error: "malformed",
  },
  {
    name: "an unknown key",
    answer: proven(lookup, whole, { key: foreign, header: { kid: "foreign" } }),
    error: "unknown_key",
  },
  {
    name: "an unknown key under the name of a known one",
    answer: proven(lookup, whole, { key: foreign }),
    error: "bad_signature",
  },
  {
    name: "altered claims",
    answer: { ...good, version: 8, proof: `${head}.${altered}.${signature}` },
    error: "bad_signature",
  },
  {
    name: "the proof of another service",
    answer: proven(lookup, whole, { claims: { origin: "https://other.example" } }),
    error: "wrong_origin",
  },
  { name: "the proof of another id", answer: good, emoji_id: "🚀🌊🔥", error: "wrong_id" },
  { name: "the proof of a longer id", answer: good, emoji_id: "🚀🌊", error: "wrong_id" },
  {
    name: "an answer of a batch that names another id",
    answer: { emoji_id: "🐙", ...good },
    error: "wrong_id",
  },
  {
    name: "the denial of another id",
    answer: { ...notRegistered, proof: denial },
    emoji_id: "🐙",
    error: "wrong_id",
  },
  { name: "an expired proof", answer: good, now: now + 500, error: "expired" },
  {
    name: "an expired denial",
    answer: { ...notRegistered, proof: denial },
    now: now + 500,
    error: "expired",
  },
  { name: "a proof of the future", answer: good, now: now - 161, error: "expired" },
  {
    name: "a former key after its end",
    answer: proven(lookup, whole, { key: former, header: { kid: "former" } }),
    error: "expired",
  },
  {
    name: "a key before its beginning",
    answer: proven(lookup, whole, { claims: { iat: rotatedAt - 1, exp: now + 500 } }),
    error: "expired",
  },
  { name: "a version below the accepted one", answer: good, at_least: 8, error: "old_version" },
  {
    name: "a denial of an id that was registered",
    answer: { ...notRegistered, proof: denial },
    at_least: 1,
    error: "old_version",
  },
  {
    name: "the answer to another request",
    answer: goodResolved,
    request: ["resolve", "ETH"],
    error: "wrong_request",
  },
  {
    name: "a part of the records instead of all",
    answer: proven({ ...lookup, result: [] }, ["lookup", "0x5001"]),
    error: "wrong_request",
  },
  {
    name: "an altered address",
    answer: { ...goodResolved, address: "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2" },
    request: ["resolve", "BTC"],
    error: "altered_answer",
  },
  {
    name: "an error instead of an address",
    answer: { ...noAddress, proof: goodResolved.proof },
    request: ["resolve", "BTC"],
    error: "altered_answer",
  },
  {
    name: "an address instead of an error",
    answer: { ...goodResolved, proof: goodNoAddress.proof },
    request: resolveLitecoin,
    error: "altered_answer",
  },
  {
    name: "another error",
    answer: { ...goodNoAddress, code: "unknown_asset" },
    request: resolveLitecoin,
    error: "altered_answer",
  },
  {
    name: "the error for another asset",
    answer: goodNoAddress,
    request: ["resolve", "BTC"],
    error: "wrong_request",
  },
  {
    name: "an added memo",
    answer: { ...goodResolved, memo: "1" },
    request: ["resolve", "BTC"],
    error: "altered_answer",
  },
  { name: "an altered version", answer: { ...good, version: 8 }, error: "altered_answer" },
  {
    name: "an altered record",
    answer: {
      ...good,
      result: [{ ...bitcoin, data: "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2" }, ethereum, nick, pubkey],
    },
    error: "altered_answer",
  },
  { name: "a removed record", answer: { ...good, result: records.slice(1) }, error: "altered_answer" },
  {
    name: "an added record",
    answer: { ...good, result: [...records, record("0x5001", "note")] },
    error: "altered_answer",
  },
  {
    name: "another order of the records",
    answer: { ...good, result: records.toReversed() },
    error: "altered_answer",
  },
  {
    name: "a removed warning about a new owner",
    answer: { ...lookup, proof: proven(changed, whole).proof },
    error: "altered_answer",
  },
  { name: "a denial beside records", answer: { ...lookup, proof: denial }, error: "altered_answer" },
  {
    name: "a denial beside an address",
    answer: { ...resolved, status: false, proof: denial },
    error: "altered_answer",
  },
  {
    name: "an error with the proof of an answer",
    answer: { ...notRegistered, proof: good.proof },
    error: "altered_answer",
  },
  {
    name: "records that do not have the signed root",
    answer: proven({ ...lookup, result: records.slice(1) }, whole),
    error: "altered_records",
  },
  {
    name: "a record with a wrong hash",
    answer: proven({ ...lookup, result: [{ ...bitcoin, hash: nick.hash }] }, whole, {
      claims: { records_root: nick.hash },
    }),
    error: "altered_records",
  },
  {
    name: "a signature of another root by the owner",
    answer: proven(lookup, whole, {
      claims: { owner_signature: sign(null, Buffer.from(nick.hash, "hex"), owner).toString("hex") },
    }),
    error: "bad_owner_signature",
  },
  {
    name: "a signature of the root by another key",
    answer: proven(lookup, whole, { claims: { owner: null, owner_signature: signedRoot } }),
    error: "bad_owner_signature",
  },
]

const usual = { registered: true, version: 7, signed_by_owner: false }
const filled = ({ at_least = 0, emoji_id = id, now: at = now, request = whole, ...rest }: Case) => ({
  ...rest,
  emoji_id,
  request,
  at_least,
  now: at,
})

/** Returns the text of schema/vectors/proofs.json. */
export const proofVectors = (): string => {
  const vectors = [...valid.map((one) => filled({ expected: usual, ...one })), ...refused.map(filled)].map(
    (one) => `    ${JSON.stringify(one)}`,
  )
  const description =
    "Answers with proofs, which docs/verification.md describes. `document` has the published keys. A verifier gets the `answer`, the `emoji_id` and `request` that were sent, the lowest accepted version `at_least`, and the time `now`. `error` is the first check that fails."
  return `{\n  "description": ${JSON.stringify(description)},\n  "document": ${JSON.stringify(document)},\n  "vectors": [\n${vectors.join(",\n")}\n  ]\n}\n`
}

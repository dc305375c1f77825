import { formatTag, tags } from "./record-tag.ts"

/** What the documentation says about the records of one tag. A test validates the examples with `normalizeRecord`. */
export interface RecordKind {
  readonly name: string
  /** The form of the data. */
  readonly form: string
  /** Data that is accepted. */
  readonly example: string
  /** How the data is validated when it is written. */
  readonly check: string
  /** Data that is refused. Undefined if every text is accepted. */
  readonly refused?: string
}

export const addressForm = "ADDRESS|DESCRIPTION|SIGNATURE|DEFAULT"
const ethereum = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const hexKey = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
const onlyOperator = "Only the operator writes and deletes it (scope `adminEmoji:updateSecureData`)."
const looseAddress =
  "3 to 256 visible ASCII characters. The form of the address is checked when a wallet resolves it, and not here."
const anyText = "Any text."

/** The documentation of every tag that has a name. */
export const recordKinds: Readonly<Record<keyof typeof tags, RecordKind>> = {
  registeredPubkey: {
    name: "Registered key",
    form: "64 hex digits in lower case, without 0x",
    example: hexKey,
    check: `The form is checked. ${onlyOperator}`,
    refused: "abc",
  },
  displayModifiers: {
    name: "Display spelling",
    form: "the emoji id itself, with skin tones",
    example: "👍🏽🌊🔥",
    check: "It must be the same id in another spelling.",
    refused: "hello",
  },
  description: { name: "Description", form: "text", example: "Alice's studio", check: anyText },
  expiry: {
    name: "Expiry",
    form: "a time in UTC",
    example: "2030-01-31T12:00:00Z",
    check: `The date must exist. ${onlyOperator}`,
    refused: "2030-02-30T12:00:00Z",
  },
  redirect: {
    name: "Redirect",
    form: "URL",
    example: "https://example.com/alice",
    check: "An http or https URL. [Redirect](/docs/directory#linkRedirect) leads to it.",
    refused: "example.com",
  },
  nickname: { name: "Nickname", form: "text", example: "Alice", check: anyText },
  preferredForm: { name: "Preferred form", form: "text", example: "🚀🌊🔥", check: anyText },
  chainPubkey: {
    name: "Chain key",
    form: "hex",
    example: hexKey,
    check: "An even number of hex digits. It is stored in lower case without 0x.",
    refused: "0x123",
  },
  hexPubkey: {
    name: "Chain key in hex",
    form: "hex",
    example: hexKey,
    check: "An even number of hex digits. It is stored in lower case without 0x.",
    refused: "0x123",
  },
  base58Pubkey: {
    name: "Chain key in base58",
    form: "base58",
    example: "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g",
    check: "Base58 with at most 128 characters.",
    refused: "0OIl",
  },
  moneroSubaddress: {
    name: "Monero sub address (XMR_SUB)",
    form: addressForm,
    example:
      "888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H",
    check: looseAddress,
    refused: "two words",
  },
  bitcoin: {
    name: "Bitcoin (BTC)",
    form: addressForm,
    example: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq|Savings||t",
    check: "An address of the Bitcoin main network with its checksum.",
    refused: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx",
  },
  ethereum: {
    name: "Ethereum (ETH)",
    form: addressForm,
    example: ethereum,
    check:
      "40 hex digits with or without 0x. If they have upper and lower case, the EIP-55 checksum must match. Stored in lower case without 0x.",
    refused: "0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
  },
  genericCrypto: {
    name: "Coin without a tag of its own",
    form: `TICKER|${addressForm}`,
    example: "KAS|kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73",
    check: `The ticker has at most 16 letters and digits. ${looseAddress} An address of BTC or ETH is checked as under its own tag.`,
    refused: "kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73",
  },
  webUrl: {
    name: "Web link",
    form: "URL, or NAME|URL",
    example: "shop|https://example.com/shop",
    check: "An http or https URL. The name has at most 64 characters.",
    refused: "javascript:alert(1)",
  },
  text: { name: "Text", form: "text", example: "Call me before you send", check: anyText },
  paymentAddress: {
    name: "Payment address",
    form: addressForm,
    example: "alice@pay.example",
    check: looseAddress,
    refused: "two words",
  },
  token: {
    name: "Token on a network",
    form: "SHORT|LONG|NETWORK|ADDRESS|DESCRIPTION|SIGNATURE",
    example: `USDC|USD Coin|polygon|${ethereum}`,
    check:
      "`SHORT` and `NETWORK` have 1 to 64 characters and no colon. On a network with Ethereum or Bitcoin addresses, the address is checked.",
    refused: "USDC|USD Coin|polygon",
  },
}

/** The kinds with their tags, ordered by tag. */
export const listedKinds: ReadonlyArray<RecordKind & { readonly tag: string }> = Object.entries(tags)
  .toSorted(([, a], [, b]) => a - b)
  .map(([key, tag]) => ({ ...recordKinds[key as keyof typeof tags], tag: formatTag(tag) }))

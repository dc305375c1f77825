import { isBase58Check } from "../address.ts"
import {
  type AddressForm,
  algorand,
  bech32,
  bitcoin,
  bitcoinCash,
  bitcoinLike,
  either,
  evm,
  matching,
  ripple,
  solana,
  ss58,
  stellar,
  ton,
} from "./address-form.ts"

/**
 * `text`: a payment may need a text beside the address. `number`: it may need a number up to 2³² - 1, as the
 * destination tag of the XRP Ledger.
 */
type Memo = "text" | "number"

export interface Network {
  readonly name: string
  /** The coin that has only this network. Undefined if the coin also exists elsewhere, so that its name says nothing. */
  readonly coin: string | undefined
  readonly form: AddressForm
  /** Other names by which requests and token records call the network. */
  readonly aliases: ReadonlyArray<string>
  /** Whether tokens of the network are sent to the same address as its coin. */
  readonly hasTokenAccounts: boolean
  readonly memo: Memo | undefined
  /** Matches addresses that contain a memo. They must not have a second one beside them. */
  readonly memoInAddress: RegExp | undefined
}

interface Options {
  readonly aliases?: ReadonlyArray<string>
  readonly hasTokenAccounts?: boolean
  readonly memo?: Memo
  readonly memoInAddress?: RegExp
}

const network = (
  name: string,
  coin: string | undefined,
  form: AddressForm,
  { aliases = [], hasTokenAccounts = false, memo, memoInAddress }: Options = {},
): Network => ({ name, coin, form, aliases, hasTokenAccounts, memo, memoInAddress })

const withTokens = (...aliases: ReadonlyArray<string>): Options => ({ aliases, hasTokenAccounts: true })
const named = (...aliases: ReadonlyArray<string>): Options => ({ aliases })
const withMemo: Options = { memo: "text" }

const tezos: AddressForm = (text) => {
  const versions = [
    [6, 161, 159],
    [6, 161, 161],
    [6, 161, 164],
    [2, 90, 121],
  ]
  return isBase58Check(text, versions) ? text : undefined
}
const base58 = "[1-9A-HJ-NP-Za-km-z]"

/**
 * The networks. A name in a request or in a token record is compared without its case, spaces, hyphens and
 * underscores. The lower-case ticker of `coin` is an alias too.
 */
const list: ReadonlyArray<Network> = [
  network("ethereum", "ETH", evm, withTokens("erc20", "ethereum-mainnet", "eip155:1")),
  network("tron", "TRX", bitcoinLike([[0x41]]), withTokens("trc20", "tron-mainnet")),
  network("solana", "SOL", solana, withTokens("spl", "solana-mainnet")),
  network("bsc", "BNB", evm, withTokens("bep20", "binance-smart-chain", "bnb-smart-chain", "eip155:56")),
  network("avalanche", "AVAX", evm, withTokens("avalanche-c", "avax-c", "c-chain", "eip155:43114")),
  network("polygon", undefined, evm, named("matic", "pol", "polygon-pos", "eip155:137")),
  network("base", undefined, evm, named("base-mainnet", "eip155:8453")),
  network("arbitrum", undefined, evm, named("arb", "arbitrum-one", "eip155:42161")),
  network("optimism", undefined, evm, named("op", "op-mainnet", "eip155:10")),
  network("gnosis", "XDAI", evm, withTokens("eip155:100")),
  network("linea", undefined, evm, named("eip155:59144")),
  network("zksync", undefined, evm, named("zksync-era", "eip155:324")),
  network("fantom", undefined, evm, named("ftm", "eip155:250")),
  network("cronos", undefined, evm, named("eip155:25")),
  network("celo", "CELO", evm, withTokens("eip155:42220")),
  network("klaytn", "KLAY", evm, withTokens("kaia", "eip155:8217")),
  network("ethereum-classic", "ETC", evm, named("eip155:61")),
  network("vechain", "VET", evm),
  network("theta", "THETA", evm),
  network("bitcoin", "BTC", bitcoin, named("bitcoin-mainnet")),
  network("bitcoin-cash", "BCH", bitcoinCash),
  network("bitcoin-sv", "BSV", bitcoinLike([[0x00], [0x05]])),
  network("bitcoin-gold", "BTG", bitcoinLike([[0x26], [0x17]], "btg")),
  network("litecoin", "LTC", bitcoinLike([[0x30], [0x32], [0x05]], "ltc")),
  network("dogecoin", "DOGE", bitcoinLike([[0x1e], [0x16]])),
  network("dash", "DASH", bitcoinLike([[0x4c], [0x10]])),
  network("digibyte", "DGB", bitcoinLike([[0x1e], [0x3f], [0x05]], "dgb")),
  network("ravencoin", "RVN", bitcoinLike([[0x3c], [0x7a]])),
  network("qtum", "QTUM", bitcoinLike([[0x3a], [0x32]])),
  network("neo", "NEO", bitcoinLike([[0x17], [0x35]])),
  network("ontology", "ONT", bitcoinLike([[0x17]])),
  network(
    "zcash",
    "ZEC",
    either(
      bitcoinLike([
        [0x1c, 0xb8],
        [0x1c, 0xbd],
      ]),
      bech32("zs"),
      bech32("u"),
    ),
  ),
  network(
    "horizen",
    "ZEN",
    bitcoinLike([
      [0x20, 0x89],
      [0x20, 0x96],
    ]),
  ),
  network("decred", "DCR", matching(new RegExp(`^D${base58}{34}$`))),
  network("monero", "XMR", matching(new RegExp(`^(?:[48]${base58}{94}|4${base58}{105})$`))),
  network("xrp-ledger", "XRP", ripple, {
    aliases: ["ripple", "xrpl"],
    memo: "number",
    memoInAddress: /^X/,
  }),
  network("stellar", "XLM", stellar, {
    aliases: ["stellar-mainnet"],
    hasTokenAccounts: true,
    memo: "text",
    memoInAddress: /^M/,
  }),
  network("cosmos", "ATOM", bech32("cosmos"), { aliases: ["cosmos-hub"], memo: "text" }),
  network("osmosis", "OSMO", bech32("osmo"), withMemo),
  network("terra", "LUNA", bech32("terra"), withMemo),
  network("thorchain", "RUNE", bech32("thor"), withMemo),
  network("kava", "KAVA", bech32("kava"), withMemo),
  network("injective", "INJ", bech32("inj"), withMemo),
  network("celestia", "TIA", bech32("celestia"), withMemo),
  network("sei", "SEI", bech32("sei"), withMemo),
  network("crypto-org", undefined, bech32("cro"), { aliases: ["cronos-pos"], memo: "text" }),
  network("eos", "EOS", matching(/^[a-z1-5][a-z1-5.]{0,10}[a-z1-5]$/), withMemo),
  network("hedera", "HBAR", matching(/^0\.0\.\d{1,10}(?:-[a-z]{5})?$/), withMemo),
  network("ton", "TON", ton, { aliases: ["the-open-network"], hasTokenAccounts: true, memo: "text" }),
  network("stacks", "STX", matching(/^S[PM][0-9A-HJKMNP-TV-Z]{38,39}$/), withMemo),
  network("nem", "XEM", matching(/^N[A-Z2-7-]{39,45}$/), withMemo),
  network("algorand", "ALGO", algorand, withTokens()),
  network(
    "near",
    "NEAR",
    matching(/^(?=.{2,64}$)(?:[0-9a-f]{64}|[a-z\d]+(?:[-_][a-z\d]+)*(?:\.[a-z\d]+(?:[-_][a-z\d]+)*)+)$/),
    withTokens(),
  ),
  network("polkadot", "DOT", ss58(0)),
  network("kusama", "KSM", ss58(2)),
  network("cardano", "ADA", either(bech32("addr"), matching(new RegExp(`^(?:Ae2|DdzFF)${base58}{50,110}$`)))),
  network("tezos", "XTZ", tezos),
  network("internet-computer", "ICP", matching(/^(?:[0-9a-f]{64}|[a-z2-7]{5}(?:-[a-z2-7]{3,5}){1,10})$/)),
  network("filecoin", "FIL", matching(/^f(?:0\d+|[12][a-z2-7]{39}|3[a-z2-7]{84}|410f[a-z2-7]{39})$/)),
  network("iota", "MIOTA", bech32("iota")),
  network("waves", "WAVES", matching(new RegExp(`^3P${base58}{33}$`))),
  network("multiversx", "EGLD", bech32("erd"), named("elrond")),
  network("zilliqa", "ZIL", bech32("zil")),
  network("nano", "NANO", matching(/^(?:nano|xrb)_[13][13-9a-km-uw-z]{59}$/)),
  network("siacoin", "SC", matching(/^[0-9a-f]{76}$/)),
  network("icon", "ICX", matching(/^hx[0-9a-f]{40}$/)),
  network("harmony", "ONE", bech32("one")),
  network("arweave", "AR", matching(/^[A-Za-z0-9_-]{43}$/)),
  network("kaspa", "KAS", matching(/^kaspa:[02-9ac-hj-np-z]{61,63}$/)),
  network("sui", "SUI", matching(/^0x[0-9a-f]{64}$/)),
  network("aptos", "APT", matching(/^0x[0-9a-f]{60,64}$/)),
]

/** Returns a network name in the form in which two spellings of it are equal. */
export const foldNetworkName = (text: string): string => text.toLowerCase().replace(/[\s_-]/g, "")

const byName: ReadonlyMap<string, Network> = new Map(
  list.flatMap((one) =>
    [one.name, ...(one.coin === undefined ? [] : [one.coin]), ...one.aliases].map(
      (name) => [foldNetworkName(name), one] as const,
    ),
  ),
)

export const findNetwork = (text: string): Network | undefined => byName.get(foldNetworkName(text))

export const networks = list

import { hash } from "node:crypto"

interface Currency {
  readonly code: string
  readonly title: string
  /** The price of one unit in US cents. The rates are constant, so demonstrations and tests show the same amounts. */
  readonly centsPerUnit: number
  readonly decimals: number
}

export const sandboxCurrencies: ReadonlyArray<Currency> = [
  { code: "BTC", title: "Bitcoin", centsPerUnit: 6_500_000, decimals: 8 },
  { code: "ETH", title: "Ether", centsPerUnit: 350_000, decimals: 8 },
  { code: "DOGE", title: "Dogecoin", centsPerUnit: 15, decimals: 4 },
  { code: "USDC", title: "USD Coin", centsPerUnit: 100, decimals: 2 },
]

/** Converts US cents to a currency. Rounds up, so that nothing is due after the shown amount is paid. */
const amountIn = (cents: number, { centsPerUnit, decimals }: Currency): number => {
  const scale = 10 ** decimals
  return Math.ceil((cents * scale) / centsPerUnit) / scale
}

/** The payment address for an intent. It is not valid on any blockchain, so no real money can be sent to it. */
const address = (intentId: string, code: string): string =>
  `sandbox:${code.toLowerCase()}:${hash("sha256", `${intentId}/${code}`).slice(0, 40)}`

export const invoiceMethods = (intentId: string, cents: number) =>
  sandboxCurrencies.map((currency) => ({
    address: address(intentId, currency.code),
    amount: amountIn(cents, currency),
    currency: currency.code,
    title: currency.title,
  }))

import { hash } from "node:crypto"

interface Currency {
  readonly code: string
  readonly title: string
  /** US cents per unit. Fixed, so that a demonstration and a test see the same amounts. */
  readonly centsPerUnit: number
  readonly decimals: number
}

export const sandboxCurrencies: ReadonlyArray<Currency> = [
  { code: "BTC", title: "Bitcoin", centsPerUnit: 6_500_000, decimals: 8 },
  { code: "ETH", title: "Ether", centsPerUnit: 350_000, decimals: 8 },
  { code: "DOGE", title: "Dogecoin", centsPerUnit: 15, decimals: 4 },
  { code: "USDC", title: "USD Coin", centsPerUnit: 100, decimals: 2 },
]

/** Rounded up: an invoice paid to the letter never leaves a cent open. */
const amountIn = (cents: number, { centsPerUnit, decimals }: Currency): number => {
  const scale = 10 ** decimals
  return Math.ceil((cents * scale) / centsPerUnit) / scale
}

/** No address of any chain, on purpose: nobody can send real money to it. */
const address = (intentId: string, code: string): string =>
  `sandbox:${code.toLowerCase()}:${hash("sha256", `${intentId}/${code}`).slice(0, 40)}`

export const invoiceMethods = (intentId: string, cents: number) =>
  sandboxCurrencies.map((currency) => ({
    address: address(intentId, currency.code),
    amount: amountIn(cents, currency),
    currency: currency.code,
    title: currency.title,
  }))

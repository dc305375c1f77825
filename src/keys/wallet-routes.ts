import { Effect, Schema } from "effect"
import { Unprocessable } from "../../schema/errors.ts"
import { Wallet, WalletChallenge, WalletSource, WalletSyncRequest } from "../../schema/keys/wallet.ts"
import { route } from "../http/route.ts"
import { EthWallets } from "./eth-wallets.ts"
import { Wallets } from "./wallet-store.ts"

const list = route({
  id: "listWallets",
  group: "wallets",
  summary: "Ethereum addresses linked to the current user",
  method: "get",
  path: "/wallets",
  auth: "JWT",
  success: Schema.Array(Wallet),
  errors: [],
  handler: ({ principal }) => Wallets.use((wallets) => wallets.list(principal.userId)),
})

const challenge = route({
  id: "walletChallenge",
  group: "wallets",
  summary: "The text to sign with personal_sign before POST /wallets",
  method: "get",
  path: "/wallets/challenge",
  auth: "JWT",
  query: { source: WalletSource },
  success: WalletChallenge,
  errors: [],
  handler: ({ principal, query: { source } }) =>
    EthWallets.use((eth) => Effect.succeed({ message: eth.challenge(principal.userId, source), source })),
})

const link = route({
  id: "syncWallet",
  group: "wallets",
  summary: "Link the Ethereum address that signed the challenge",
  method: "post",
  path: "/wallets",
  auth: "JWT",
  scope: "userData:update",
  limit: "write",
  body: WalletSyncRequest,
  success: Wallet,
  errors: [Unprocessable],
  handler: ({ body: { signature, source }, principal }) =>
    Effect.gen(function* () {
      const address = yield* EthWallets.use((eth) => eth.recover(principal.userId, source, signature))
      return yield* Wallets.use((wallets) => wallets.link(principal.userId, address, source))
    }).pipe(
      Effect.catchTag("WalletSignatureInvalid", () =>
        Effect.fail(
          new Unprocessable({
            error: "This is no signature of the text that GET /wallets/challenge shows.",
            fields: { signature: [{ code: "invalid", message: "expected 65 bytes as 0x and hex digits" }] },
          }),
        ),
      ),
    ),
})

export const wallets = [list, challenge, link] as const

import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Unprocessable } from "../../schema/errors.ts"
import { Wallet, WalletChallenge, WalletSource, WalletSyncRequest } from "../../schema/keys/wallet.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { route } from "../http/route.ts"
import { EthWallets } from "./eth-wallets.ts"
import { Wallets } from "./wallet-store.ts"

const list = route({
  id: "listWallets",
  group: "wallets",
  summary: "List your linked Ethereum addresses",
  description: "Addresses that the user has proven with a signature.",
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
  summary: "Get the message to sign for POST /wallets",
  description:
    "Sign it with `personal_sign` of an Ethereum wallet. The message contains the user, so a signature is of no use to another account.",
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
  summary: "Link the Ethereum address that signed the challenge message",
  description:
    "Send the signature of the message of `GET /wallets/challenge`. The service recovers the address from it. A signature that is not valid is 422.",
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
      atMostOnce,
      Effect.map(({ rows }) => rows[0]!),
      Effect.tap(({ eth_address }) =>
        recordEvent({ event: "wallet.added", userId: principal.userId, details: { eth_address } }),
      ),
      Effect.catchTag("WalletSignatureInvalid", () =>
        Effect.fail(
          new Unprocessable({
            error:
              "The signature is not valid. Sign the message of GET /wallets/challenge with personal_sign.",
            fields: {
              signature: [{ code: "invalid", message: "expected 65 bytes as 0x and 130 hex digits" }],
            },
          }),
        ),
      ),
    ),
})

export const wallets = [list, challenge, link] as const

import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { fieldFault, type Unavailable, type Unprocessable } from "../../schema/errors.ts"
import type { Wallet } from "../../schema/keys/wallet.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql } from "../postgres/sql.ts"
import type { EthAddress } from "./eth-address.ts"
import type { WalletSource } from "./eth-wallets.ts"

const maxWalletsPerUser = 100

/** The Ethereum addresses that users have linked to their accounts. */
export class Wallets extends Context.Service<
  Wallets,
  {
    list(userId: string): Effect.Effect<ReadonlyArray<Wallet>, Unavailable>
    link(
      userId: string,
      address: EthAddress,
      source: WalletSource,
    ): Effect.Effect<Written<WriteOutcome<Wallet, undefined>>, Unprocessable | Unavailable>
  }
>()("directory/Wallets") {
  static readonly layer = Layer.effect(
    Wallets,
    Effect.gen(function* () {
      const sql = yield* Sql
      return Wallets.of({
        list: (userId) =>
          sql.rows<Wallet>(
            (q) =>
              q`select eth_address, user_id from wallet where user_id = ${userId} order by created_at, eth_address`,
          ),
        link: Effect.fnUntraced(function* (userId, address, source) {
          const linked = yield* sql.write.rows<Wallet>(
            (q) => q`select eth_address, user_id
                       from link_wallet(${userId}, ${address}, ${source}, ${maxWalletsPerUser})`,
          )
          if (linked.outcome.rows.length > 0) return linked
          return yield* fieldFault(
            "eth_address",
            "too_many",
            `A user can have at most ${maxWalletsPerUser} wallets.`,
          )
        }),
      })
    }),
  )
}

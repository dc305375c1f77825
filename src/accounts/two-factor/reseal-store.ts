import { Effect } from "effect"
import { Seal } from "../../crypto/envelope-encryption.ts"
import { Sql } from "../../postgres/sql.ts"
import { phoneAad, secretAad } from "./second-factors.ts"

const factorsPerPart = 500

interface StoredFactor {
  readonly user_id: string
  readonly provider: string
  readonly sealed_secret: string | null
  readonly sealed_phone: string | null
}

/** Encrypts the secrets and telephone numbers of second factors again whose master key is not the newest one. */
export const resealSecondFactors = Effect.gen(function* () {
  const sql = yield* Sql
  const seal = yield* Seal
  const isStale = (text: string | null) => text !== null && seal.isStale(text)
  const reseal = (text: string | null, aad: string) =>
    text === null ? Effect.succeed(null) : seal.reseal(text, aad)
  let [resealed, unreadable] = [0, 0]
  let after = { user_id: "00000000-0000-0000-0000-000000000000", provider: "" }
  for (;;) {
    const part = yield* sql.rows<StoredFactor>(
      (q) => q`select user_id, provider, sealed_secret, sealed_phone from two_factor
                where (user_id, provider) > (${after.user_id}::uuid, ${after.provider})
                order by user_id, provider limit ${factorsPerPart}`,
    )
    for (const { provider, sealed_phone, sealed_secret, user_id } of part) {
      if (!isStale(sealed_secret) && !isStale(sealed_phone)) continue
      const made = yield* Effect.option(
        Effect.all([reseal(sealed_secret, secretAad(user_id)), reseal(sealed_phone, phoneAad(user_id))]),
      )
      if (made._tag === "None") {
        unreadable++
        continue
      }
      const [secret, phone] = made.value
      yield* sql.rows(
        (q) => q`update two_factor set sealed_secret = ${secret}, sealed_phone = ${phone}
                  where user_id = ${user_id} and provider = ${provider}
                    and sealed_secret is not distinct from ${sealed_secret} and sealed_phone is not distinct from ${sealed_phone}`,
      )
      resealed++
    }
    const last = part.at(-1)
    if (last === undefined) return { resealed, unreadable }
    after = last
  }
})

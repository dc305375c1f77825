import { Schema } from "effect"
import { DateTime, optional, words } from "../../wire-format.ts"
import { LookupError, maxIdsPerBatch, proof } from "../lookup.ts"
import type { Resolved, ResolveRefused } from "./resolve.ts"
import { ruleNames } from "./rules.ts"

/** Payers are warned for this long after an id got a new owner. */
export const ownerChangeWarningMs = 24 * 60 * 60 * 1000

export const ResolveWarning = Schema.Struct({
  code: words("ResolveWarningCode", ["owner_changed", "other_networks"]),
  message: Schema.String,
  changed_at: Schema.optionalKey(DateTime).annotateKey({
    description: "When the id got its owner. Only with `owner_changed`.",
  }),
  networks: Schema.optionalKey(Schema.Array(Schema.String)).annotateKey({
    description: "The networks on which the id has an address for the asset. Only with `other_networks`.",
  }),
}).annotate({ identifier: "ResolveWarning" })
export type ResolveWarning = typeof ResolveWarning.Type

const found = {
  asset: Schema.String,
  network: Schema.String,
  address: Schema.String.annotate({
    description:
      "The address as a wallet pastes it. An Ethereum-style address has 0x and an EIP-55 checksum.",
  }),
  memo: Schema.optionalKey(Schema.String).annotateKey({
    description: "The memo or destination tag that the payment needs. Never send without it.",
  }),
  record: Schema.Struct({ tag: Schema.String, hash: Schema.String }).annotate({
    description: "The record that has the address.",
  }),
  rule: words("ResolveRule", ruleNames).annotateKey({ description: "The rule that selected the record." }),
}

export const ResolveResponse = Schema.Struct({
  status: Schema.Literal(true),
  ...found,
  warnings: Schema.Array(ResolveWarning),
  error: Schema.Null,
  version: Schema.Int,
  proof,
}).annotate({ identifier: "ResolveResponse" })
export type ResolveResponse = typeof ResolveResponse.Type

export const AssetText = Schema.String.check(Schema.isMaxLength(32)).annotate({
  description: "The ticker of a coin or token, for example BTC or USDC.",
})
export const maxNetworkUnits = 64
export const NetworkText = Schema.String.check(Schema.isMaxLength(maxNetworkUnits)).annotate({
  description:
    "The network, for example ethereum. May be left out for a coin, and for a token with one network.",
})

export const BatchResolveRequest = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      emoji_id: Schema.String.check(Schema.isMaxLength(512)),
      asset: AssetText,
      network: optional(NetworkText),
    }).annotate({ identifier: "ResolveItem" }),
  ).check(Schema.isMinLength(1), Schema.isMaxLength(maxIdsPerBatch)),
}).annotate({
  identifier: "BatchResolveRequest",
  examples: [{ items: [{ emoji_id: "🚀🌊🔥", asset: "USDC", network: "ethereum" }] }],
})
export type ResolveItem = (typeof BatchResolveRequest.Type)["items"][number]

/**
 * The answer for one item of a batch. `emoji_id` is the id in the spelling of the request. If `status` is false, the
 * answer has `error` and no address.
 */
export const BatchResolveAnswer = Schema.Struct({
  emoji_id: Schema.String,
  status: Schema.Boolean,
  asset: Schema.optionalKey(found.asset),
  network: Schema.optionalKey(found.network),
  address: Schema.optionalKey(found.address),
  memo: found.memo,
  record: Schema.optionalKey(found.record),
  rule: Schema.optionalKey(found.rule),
  warnings: Schema.Array(ResolveWarning),
  error: Schema.NullOr(LookupError),
  /** The networks that the item can name. Only with the errors `network_required` and `unknown_network`. */
  networks: Schema.optionalKey(Schema.Array(Schema.String)),
  version: Schema.optionalKey(Schema.Int),
  proof,
}).annotate({ identifier: "BatchResolveAnswer" })
export type BatchResolveAnswer = typeof BatchResolveAnswer.Type

export const BatchResolveResponse = Schema.Struct({ result: Schema.Array(BatchResolveAnswer) }).annotate({
  identifier: "BatchResolveResponse",
})

/** Whether payers are still warned that the id changed its owner. */
export const isRecentChange = (ownerChangedAt: string | undefined, nowMs: number): boolean =>
  ownerChangedAt !== undefined && nowMs - Date.parse(ownerChangedAt) < ownerChangeWarningMs

const otherNetworks = (networks: ReadonlyArray<string>, message: string): ReadonlyArray<ResolveWarning> =>
  networks.length === 0 ? [] : [{ code: "other_networks", message, networks }]

export const warningsOf = (
  outcome: Resolved | ResolveRefused,
  ownerChangedAt: string | undefined,
  nowMs: number,
): ReadonlyArray<ResolveWarning> => {
  const changed: ReadonlyArray<ResolveWarning> =
    ownerChangedAt !== undefined && isRecentChange(ownerChangedAt, nowMs)
      ? [
          {
            code: "owner_changed",
            message:
              "This emoji id got a new owner within the last 24 hours. Ask the recipient before you pay.",
            changed_at: ownerChangedAt,
          },
        ]
      : []
  if ("rule" in outcome) {
    const { asset, network } = outcome
    const message = `This emoji id has no ${asset} record for ${network}, but it has one for another network: ${outcome.otherNetworks.join(", ")}. The address is the account of the network's coin.`
    return [...changed, ...otherNetworks(outcome.otherNetworks, message)]
  }
  return [
    ...changed,
    ...(outcome.code === "no_address" ? otherNetworks(outcome.networks, outcome.message) : []),
  ]
}

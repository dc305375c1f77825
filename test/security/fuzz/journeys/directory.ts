import { generateKeyPairSync } from "node:crypto"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { signEthMessage } from "../../../../src/keys/eth-message.ts"
import { age } from "../../../transfers/transfer-service.ts"
import type { World } from "../world.ts"

const account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"

const newPubkey = () =>
  generateKeyPairSync("ed25519")
    .publicKey.export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex")

/** An id and its records, its stored JSON, its mint signature and its end. */
export const records = async (world: World): Promise<void> => {
  const owner = await world.user("owner of an id")
  const emoji_id = await world.owned(owner)
  const params = { emoji_id }
  const as = owner
  await world.call("editEmojiID", {
    as,
    params,
    json: {
      insert: [
        { tag: "0x4001", data: "https://example.com/fuzz" },
        { tag: "0x1003", data: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq" },
        { tag: "0x5001", data: "a text" },
      ],
    },
  })
  await world.call("storeJson", {
    as,
    params: { ...params, key: "VisualizerName" },
    json: { data: { a: [1] } },
  })
  for (const operation of ["getStats", "emojiIDMetadata"]) await world.call(operation, { as, params })
  for (const operation of ["listEmojiIDs", "listExtended", "random", "recent"])
    await world.call(operation, { as })
  await world.call("searchEmojiID", { as, query: { emoji_id: world.freshId(3) } })
  await world.call("generateSignature", { as, params, json: { account } })
  const wanted = world.freshId()
  await world.call("registerInterest", { as, json: { emoji_id: wanted } })
  await world.call("getInterestedUsers", { as })
  await world.call("getUserInterestForYat", { as, params: { emoji_id: wanted } })
  await world.call("deleteUserInterest", { as, params: { emoji_id: wanted } })
  const admin = await world.admin()
  const gone = await world.owned(owner)
  for (const minted of [true, false])
    await world.call("setMinted", { as: admin, params: { emoji_id: gone }, json: { minted } })
  await world.call("destroyEmojiID", { as: admin, params: { emoji_id: gone } })
}

/** Public keys and Ethereum wallets of a user. */
export const keys = async (world: World): Promise<void> => {
  const user = await world.user()
  await world.call("createWallet", { as: user })
  await world.call("addPubkey", { as: user, params: { pubkey: newPubkey() } })
  await world.call("getPubkeys", { as: user })
  await world.call("addPubkeyForUser", { as: user, params: { user_id: user.id, pubkey: newPubkey() } })
  await world.call("getPubkeysForUser", { as: user, params: { user_id: user.id } })
  const source = "Mint"
  const { json } = await world.call("walletChallenge", { as: user, query: { source } })
  const signature = signEthMessage(Buffer.from(json.message), secp256k1.utils.randomSecretKey())
  await world.call("syncWallet", { as: user, json: { signature, source } })
  await world.call("listWallets", { as: user })
}

/** A transfer that is completed with both codes, one whose code is sent again, and one that is deleted. */
export const transfers = async (world: World): Promise<void> => {
  const sender = await world.user("owner of an id")
  const receiver = await world.user()
  const start = async () => {
    const eid = await world.owned(sender)
    const { json } = await world.call("requestTransfer", { as: sender, json: { eid, email: receiver.email } })
    return { transfer_id: json.id as string }
  }
  const done = await start()
  await world.call("senderAcceptTransfer", {
    as: sender,
    params: done,
    json: { code: await world.code(sender.email) },
  })
  await world.call("listIncoming", { as: receiver })
  await world.call("listFiltered", { as: sender })
  await world.call("receiverAcceptTransfer", {
    as: receiver,
    params: done,
    json: { code: await world.code(receiver.email) },
  })
  const later = await start()
  // A code is sent again at the earliest after a minute. The wrong code makes the service read the aged transfer.
  await age(world.lane.target, later.transfer_id, 61)
  await world.attempt("senderAcceptTransfer", { as: sender, params: later, json: { code: "wrong" } })
  await world.call("resendCode", { as: sender, params: later })
  await world.call("deleteTransfer", { as: sender, params: await start() })
}

import { randomBytes } from "node:crypto"
import type { World } from "../world.ts"

const demoId = "🚀🌊🔥"

/** Everything that needs no login: documents, lookups and redirects of the demo data. */
export const publicPages = async (world: World): Promise<void> => {
  for (const operation of [
    "health",
    "ready",
    "version",
    "metrics",
    "openapi",
    "swagger",
    "asyncapi",
    "docs",
    "emojiList",
  ])
    await world.call(operation)
  const page = await world.call("console", { query: { emoji_id: demoId } })
  const [, name = "", v = ""] = /\/assets\/([\w.-]+)\?v=([\w-]+)/.exec(page.text) ?? []
  await world.call("asset", { params: { name }, query: { v } })
  await world.call("consoleVocabulary")
  await world.call("live", {
    lines: [
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    ],
  })
  const params = { emoji_id: demoId }
  const { json } = await world.call("lookupEmojiID", { params, query: { tags: "0x1003,0x1004" } })
  await world.call("lookupEmojiIDPayment", { params })
  const record = json.result[0]
  await world.call("confirmRecord", { params, query: { tag: record.tag, data: record.data } })
  await world.call("lookupEmojiIdTicker", { params: { ...params, tag: "BTC" } })
  await world.call("lookupEmojiIDs", { json: { emoji_ids: [demoId, "🦊🍕", world.freshId()] } })
  await world.call("resolveEmojiID", { params, query: { asset: "USDC", network: "ethereum" } })
  await world.call("resolveEmojiIDs", {
    json: {
      items: [
        { emoji_id: demoId, asset: "BTC" },
        { emoji_id: "🦊🍕", asset: "USDC", network: "tron" },
      ],
    },
  })
  await world.call("emojiIDMetadata", { params })
  await world.call("rhythm", { params })
  await world.call("loadJsonIndex", { params, query: { keys: "VisualizerName,SvcPageData" } })
  await world.call("loadJson", { params: { ...params, key: "VisualizerName" } })
  await world.call("linkRedirect", { query: { emoji_id: demoId } })
  const [row] = await world.lane.target.sql<{ token_id: string }[]>`select token_id from emoji_id limit 1`
  await world.call("metadata", { params: { token_id: String(row?.token_id) } })
}

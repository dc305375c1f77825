import { bitcoin, ethereum, otherBitcoin, serveDirectory } from "../directory-service.ts"

export const id = "🚀👋❤️"
export const path = `/emoji_id/${encodeURIComponent(id)}`

/** Starts the service with two registered ids: `id` has records of many kinds, and 🌊 has no records. */
export const serveLookups = async () => {
  const service = await serveDirectory()
  const owner = await service.user()
  await service.register(id, owner)
  await service.register("🌊", owner)
  await service.edit(id, owner, {
    bypass_single_restrictions: true,
    insert: [
      { tag: "0x1003", data: `${bitcoin}|main||t` },
      { tag: "0x1003", data: otherBitcoin },
      { tag: "0x1004", data: ethereum },
      { tag: "0x3fff", data: "WOW|wow-address" },
      { tag: "0x6300", data: `USDX|US Dollar X|ETH|${ethereum}|savings|sig` },
      { tag: "0x0005", data: "Küche 🍳" },
      { tag: "0x4001", data: "shop|https://example.com/shop" },
      { tag: "0x0004", data: "https://example.com/home" },
    ],
  })
  return { service, owner }
}

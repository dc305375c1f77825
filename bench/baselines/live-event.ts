/** The event that the baselines of live updates publish. It has the size of an event of the service. */
export const liveEvent = {
  type: "event",
  channel: "emoji_id:🐙",
  offset: 1,
  event: "emoji_id.records",
  data: { emoji_id: "🐙", records: [{ tag: "0x4001", data: "https://example.com/octopus" }] },
  at: "2026-01-01T00:00:00.000Z",
} as const

/**
 * The response of the service to a lookup of an id with one record. The baselines send it too, so that all responses
 * have the same size.
 */
export const lookupAnswer = {
  status: true,
  result: [{ tag: "0x4001", data: "https://example.com/octopus", hash: "0".repeat(64) }],
  error: null,
  stats: [
    {
      metric: "views",
      description: "Lookups in the past 28 days",
      key: "octopus.octopus.octopus.octopus",
      value: 1,
      start_date: "2026-01-01T00:00:00.000Z",
      finish_date: "2026-01-28T12:00:00.000Z",
    },
  ],
  version: 1,
}

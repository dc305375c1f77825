import { Schema } from "effect"
import { UpgradeRequired } from "../../schema/errors.ts"
import { route } from "../http/route.ts"

/** Answers requests that are not an upgrade. The socket server handles upgrades before the routes. */
const socket = route({
  id: "live",
  group: "live",
  summary: "Receive live updates over WebSocket, see /asyncapi.json",
  description:
    "Opens the WebSocket of the live protocol. A request without an upgrade gets 426. The page [Live updates](/docs/live) describes frames, channels and guarantees.",
  method: "get",
  path: "/live",
  auth: "none",
  status: 101,
  success: Schema.Void,
  errors: [UpgradeRequired],
  handler: () =>
    new UpgradeRequired({ error: "This endpoint accepts WebSocket connections only. See /asyncapi.json." }),
})

export const live = [socket] as const

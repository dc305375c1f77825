import { Schema } from "effect"
import { UpgradeRequired } from "../../schema/errors.ts"
import { route } from "../http/route.ts"

/** Upgrades never get here: the socket is mounted before the table. */
const socket = route({
  id: "live",
  group: "live",
  summary: "Live updates over WebSocket; described by /asyncapi.json",
  method: "get",
  path: "/live",
  auth: "none",
  status: 101,
  success: Schema.Void,
  errors: [UpgradeRequired],
  handler: () => new UpgradeRequired({ error: "Connect with a WebSocket. See /asyncapi.json." }),
})

export const live = [socket] as const

import type { View } from "../main.ts"
import { h } from "../parts/dom.ts"
import { drawPages, type Section } from "../parts/subnav.ts"
import { drawBoxes } from "./boxes.ts"
import { drawCodes } from "./codes.ts"
import { drawEvents } from "./events.ts"
import { drawOrders } from "./orders.ts"
import { drawOverview } from "./overview.ts"
import { drawPrices } from "./prices.ts"
import { drawTransfers } from "./transfers.ts"
import { drawUsers } from "./users.ts"

const pages: Readonly<Record<string, Section>> = {
  overview: { label: "Overview", draw: drawOverview },
  events: { label: "Events", draw: drawEvents },
  orders: { label: "Orders", draw: drawOrders },
  transfers: { label: "Transfers", draw: drawTransfers },
  boxes: { label: "Boxes", draw: drawBoxes },
  codes: { label: "Codes", draw: drawCodes },
  prices: { label: "Prices", draw: drawPrices },
  users: { label: "Users", draw: drawUsers },
}

export const draw: View["draw"] = (root, lifetime, rest) => {
  root.append(h("h1", {}, "Administration"))
  return drawPages(root, "admin", pages, lifetime, rest)
}

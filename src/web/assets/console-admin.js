import { drawBoxes } from "./console-admin-boxes.js"
import { drawCodes } from "./console-admin-codes.js"
import { drawEvents } from "./console-admin-events.js"
import { drawOrders } from "./console-admin-orders.js"
import { drawTransfers } from "./console-admin-transfers.js"
import { drawUsers } from "./console-admin-users.js"
import { h } from "./console-dom.js"
import { drawPages } from "./console-subnav.js"

const pages = {
  events: { label: "Events", draw: drawEvents },
  orders: { label: "Orders", draw: drawOrders },
  transfers: { label: "Transfers", draw: drawTransfers },
  boxes: { label: "Boxes", draw: drawBoxes },
  codes: { label: "Codes", draw: drawCodes },
  users: { label: "Users", draw: drawUsers },
}

export const draw = (root, life, rest) => {
  root.append(h("h1", {}, "Administration"))
  return drawPages(root, "admin", pages, life, rest)
}

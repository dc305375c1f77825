import { h } from "../parts/dom.js"
import { drawPages } from "../parts/subnav.js"
import { drawBoxes } from "./boxes.js"
import { drawCodes } from "./codes.js"
import { drawEvents } from "./events.js"
import { drawOrders } from "./orders.js"
import { drawTransfers } from "./transfers.js"
import { drawUsers } from "./users.js"

const pages = {
  events: { label: "Events", draw: drawEvents },
  orders: { label: "Orders", draw: drawOrders },
  transfers: { label: "Transfers", draw: drawTransfers },
  boxes: { label: "Boxes", draw: drawBoxes },
  codes: { label: "Codes", draw: drawCodes },
  users: { label: "Users", draw: drawUsers },
}

export const draw = (root, lifetime, rest) => {
  root.append(h("h1", {}, "Administration"))
  return drawPages(root, "admin", pages, lifetime, rest)
}

import { drawIds } from "./account/owned.ts"
import type { View } from "./main.ts"
import { h } from "./parts/dom.ts"

/** The ids of the user: a list, or the records of one id. */
export const draw: View["draw"] = async (root, lifetime, rest) => {
  const [id] = rest
  const place = h("div", {})
  root.append(h("h1", {}, id === undefined ? "My ids" : `Records of ${id}`), place)
  await drawIds(place, lifetime, rest)
  return id ?? "My ids"
}

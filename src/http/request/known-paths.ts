import type { Endpoint } from "../endpoint.ts"

interface Node {
  readonly literals: Map<string, Node>
  parameter: Node | undefined
  readonly endpoints: Array<Endpoint>
}

const makeNode = (): Node => ({ literals: new Map(), parameter: undefined, endpoints: [] })

const childOf = (node: Node, part: string): Node => {
  if (part.startsWith(":")) {
    node.parameter ??= makeNode()
    return node.parameter
  }
  const known = node.literals.get(part)
  if (known !== undefined) return known
  const made = makeNode()
  node.literals.set(part, made)
  return made
}

/**
 * Returns a function that finds the endpoints of a path, whatever their method. It is used for requests that match no
 * endpoint: they get 404 or 405, or are OPTIONS requests. The path patterns are split once, into a tree, because a
 * client can pipeline tens of thousands of unknown paths.
 */
export const makeKnownPaths = (
  endpoints: ReadonlyArray<Endpoint>,
): ((path: string) => ReadonlyArray<Endpoint>) => {
  const root = makeNode()
  let depth = 0
  for (const endpoint of endpoints) {
    const parts = endpoint.path.split("/")
    depth = Math.max(depth, parts.length)
    parts.reduce(childOf, root).endpoints.push(endpoint)
  }

  const collect = (node: Node, parts: ReadonlyArray<string>, at: number, found: Array<Endpoint>): void => {
    const part = parts[at]
    if (part === undefined) {
      found.push(...node.endpoints)
      return
    }
    const literal = node.literals.get(part)
    if (literal !== undefined) collect(literal, parts, at + 1, found)
    if (node.parameter !== undefined && part !== "") collect(node.parameter, parts, at + 1, found)
  }

  return (path) => {
    // The path is split into at most one part more than the longest pattern. That is enough to detect a path that is
    // too long.
    // As in the router, a slash at the end makes no difference, except after the root.
    const parts = (path.length > 2 && path.endsWith("/") ? path.slice(0, -1) : path).split("/", depth + 1)
    const found: Array<Endpoint> = []
    if (parts.length <= depth) collect(root, parts, 0, found)
    return found
  }
}

/** Returns the value of the Allow header for a path with these endpoints. */
export const methodsOf = (endpoints: ReadonlyArray<Endpoint>): string => {
  const methods = new Set(["OPTIONS"])
  for (const { method } of endpoints) methods.add(method === "del" ? "DELETE" : method.toUpperCase())
  if (methods.has("GET")) methods.add("HEAD")
  return [...methods].sort().join(", ")
}

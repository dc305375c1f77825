import { cursorsOf, type ListForm, type Page, type PageRequest } from "../../../schema/paging.ts"
import { Reply } from "./reply.ts"

interface RequestUrl {
  readonly path: string
  readonly search: string
}

const relations = [
  ["next", "next", "after"],
  ["previous", "prev", "before"],
] as const

/**
 * Returns the response of a list that is returned as an array. Its cursors are in the Link header (RFC 8288), as URLs of
 * the next and the previous page.
 */
export const linked = <A>(
  list: ListForm,
  request: PageRequest,
  page: Page<unknown>,
  data: ReadonlyArray<A>,
  { path, search }: RequestUrl,
): Reply<ReadonlyArray<A>> => {
  const cursors = cursorsOf(list, request, page)
  const links = relations.flatMap(([cursor, rel, parameter]) => {
    const value = cursors[cursor]
    if (value === undefined) return []
    const query = new URLSearchParams(search)
    for (const name of ["page", "after", "before"]) query.delete(name)
    query.set(parameter, value)
    return [`<${path}?${query}>; rel="${rel}"`]
  })
  return Reply.json(data, links.length === 0 ? {} : { headers: { Link: links.join(", ") } })
}

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
 * Returns the Link header (RFC 8288) of a page, with the URLs of the next and the previous page. It is empty if there are
 * none.
 */
export const linksOf = (
  list: ListForm,
  request: PageRequest,
  page: Page<unknown>,
  { path, search }: RequestUrl,
): { readonly Link?: string } => {
  const cursors = cursorsOf(list, request, page)
  const links = relations.flatMap(([cursor, rel, parameter]) => {
    const value = cursors[cursor]
    if (value === undefined) return []
    const query = new URLSearchParams(search)
    for (const name of ["page", "after", "before"]) query.delete(name)
    query.set(parameter, value)
    return [`<${path}?${query}>; rel="${rel}"`]
  })
  return links.length === 0 ? {} : { Link: links.join(", ") }
}

/** Returns the response of a list that is returned as an array. Its cursors are in the Link header. */
export const linked = <A>(
  list: ListForm,
  request: PageRequest,
  page: Page<unknown>,
  data: ReadonlyArray<A>,
  url: RequestUrl,
): Reply<ReadonlyArray<A>> => Reply.json(data, { headers: { ...linksOf(list, request, page, url) } })

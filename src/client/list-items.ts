import type { Operations } from "./api-types.ts"
import type { OperationName } from "./operation.ts"

type ItemOf<O> = O extends { readonly query: { readonly after?: string }; readonly answer: infer A }
  ? A extends { readonly data: ReadonlyArray<infer Item> }
    ? Item
    : A extends ReadonlyArray<infer Item>
      ? Item
      : never
  : never

/** The operations that return a list page by page. */
export type ListName = {
  [N in OperationName]: [ItemOf<Operations[N]>] extends [never] ? never : N
}[OperationName]

export type Item<N extends ListName> = ItemOf<Operations[N]>

export interface Page {
  readonly headers: Headers
  readonly body: unknown
}

const nextOf = ({ body, headers }: Page): string | undefined => {
  if (!Array.isArray(body)) return (body as { readonly paging: { readonly next?: string } }).paging.next
  const [, url] = /<([^>]*)>;\s*rel="next"/.exec(headers.get("link") ?? "") ?? []
  return url === undefined ? undefined : (new URL(url, "http://list").searchParams.get("after") ?? undefined)
}

/** Reads a list page by page, with cursors: an item that stays in the list is read exactly once. */
export async function* itemsOf(read: (after: string | undefined) => Promise<Page>): AsyncGenerator<unknown> {
  let after: string | undefined
  do {
    const page = await read(after)
    yield* Array.isArray(page.body)
      ? page.body
      : (page.body as { readonly data: ReadonlyArray<unknown> }).data
    after = nextOf(page)
  } while (after !== undefined)
}

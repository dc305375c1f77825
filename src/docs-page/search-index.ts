import { readExamples } from "./examples.ts"
import {
  liveGroup,
  operationsOf,
  pageOf,
  type Reference,
  shapesOf,
  slugOf,
  titleOf,
  topicsOf,
} from "./reference.ts"

/** An entry of the search: what it is called, where it is, and the words by which it is found. */
interface SearchEntry {
  readonly kind: string
  readonly title: string
  readonly href: string
  readonly words: string
}

const chapters: ReadonlyArray<readonly [title: string, href: string, words: string]> = [
  ["Quickstart", "/docs", "start curl first request"],
  ["A wallet lookup that stays current", "/docs#wallet", "program watch websocket fetch resolve"],
  ["Authentication", "/docs#authentication", "token api key login bearer header"],
  ["Safe retries", "/docs#idempotency", "idempotency-key repeat"],
  ["Lists", "/docs#lists", "paging cursor after before limit link"],
  ["Errors", "/docs/errors", "status code"],
  ["Live updates", "/docs/live", "websocket subscribe channel event"],
  ["Close codes", "/docs/live#close-codes", "websocket 4401 4403"],
]

/** Lists everything that the pages contain. The script of the pages searches in it. */
export const searchIndex = (reference: Reference): ReadonlyArray<SearchEntry> => [
  ...chapters.map(([title, href, words]) => ({ kind: "Guide", title, href, words })),
  ...topicsOf(reference).flatMap(([topic, groups]) =>
    groups.map((group) => ({
      kind: topic,
      title: titleOf(group),
      href: `/docs/${slugOf(group)}`,
      words: "",
    })),
  ),
  ...operationsOf(reference).map((listed) => {
    const { method, operation, path } = listed
    const page = operation.tags[0] === liveGroup ? "/docs/live" : pageOf(listed)
    return {
      kind: `${method} ${path}`,
      title: operation.summary,
      href: `${page}#${operation.operationId}`,
      words: `${operation.operationId} ${operation.tags[0]} ${operation.description ?? ""}`,
    }
  }),
  ...Object.entries(readExamples().errors).map(([code, { status }]) => ({
    ...{
      kind: `Error ${status}`,
      title: code,
      href: `/docs/errors#${code}`,
      words: code.replaceAll("_", " "),
    },
  })),
  ...reference.asyncApi["x-channels"].map(({ name, summary }) => ({
    ...{ kind: "Channel", title: name, href: "/docs/live#channels", words: summary },
  })),
  ...Object.keys(reference.asyncApi.components.messages).map((name) => ({
    ...{ kind: "Frame", title: name, href: `/docs/live#frame-${name}`, words: "live websocket" },
  })),
  ...Object.keys(shapesOf(reference)).map((name) => ({
    ...{ kind: "Schema", title: name, href: `/docs/schemas#schema-${name}`, words: "" },
  })),
]

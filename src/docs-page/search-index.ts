import { listedKinds } from "../../schema/directory/records/record-kind.ts"
import { formatTag } from "../../schema/directory/records/record-tag.ts"
import { nativeTickers } from "../../schema/directory/ticker.ts"
import { liveEvents } from "../../schema/live-events.ts"
import { readExamples } from "./examples.ts"
import { guideChapters } from "./guides.ts"
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
  ["For wallets", "/docs/for-wallets", "guide address resolve network asset memo warning"],
  ["Verify answers", "/docs/verification", "guide proof signature signed offline keys"],
  ["Client", "/docs/client", "guide package npm typescript options updates"],
  [
    "Rate limits",
    "/docs/limits",
    "429 ratelimit-limit ratelimit-remaining ratelimit-reset retry-after budget",
  ],
  ["Records", "/docs/records", "tag category kind data form single-value"],
  ["Default records", "/docs/records#default", "several addresses payment"],
  ["bypass_single_restrictions, merkle_root, signature", "/docs/records#edit-members", "patch edit"],
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
  ...Object.entries(reference.asyncApi.components.messages).map(([name, { summary }]) => ({
    ...{ kind: name in liveEvents ? "Event" : "Frame", title: name, words: `live websocket ${summary}` },
    href: `/docs/live#${name in liveEvents ? "event" : "frame"}-${name}`,
  })),
  ...guideChapters(),
  ...listedKinds.map(({ form, name, tag }) => ({
    ...{ kind: `Record ${tag}`, title: name, href: `/docs/records#tag-${tag}`, words: `tag data ${form}` },
  })),
  ...[...nativeTickers].map(([ticker, tag]) => ({
    ...{ kind: `Record ${formatTag(tag)}`, title: ticker, href: "/docs/records#coins", words: "coin tag" },
  })),
  ...Object.keys(shapesOf(reference)).map((name) => ({
    ...{ kind: "Schema", title: name, href: `/docs/schemas#schema-${name}`, words: "" },
  })),
]

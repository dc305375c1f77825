import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../config/project-root.ts"
import type { EventExamples } from "../live/asyncapi.ts"

/** A request and its response, which `npm run docs` has recorded from a running service. */
export interface Example {
  readonly method: string
  readonly path: string
  /** Whether the request has an access token. */
  readonly isSignedIn: boolean
  /** The headers of the request that are not in every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The body of a form. */
  readonly form?: string
  readonly status: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** The body of a JSON response. Long lists are shortened. */
  readonly response?: unknown
  /** The beginning of another response. */
  readonly text?: string
}

interface Examples {
  readonly operations: Readonly<Record<string, Example>>
  /** An example of each error code. */
  readonly errors: Readonly<Record<string, Example>>
  /** An example of each type of event in the live protocol. */
  readonly events: EventExamples
}

export const examplesFile = join(projectRoot, "src/docs-page/examples.json")

let examples: Examples | undefined

/** Reads the recorded examples at the first call, because most processes never show them. */
export const readExamples = (): Examples => {
  examples ??= JSON.parse(readFileSync(examplesFile, "utf8")) as Examples
  return examples
}

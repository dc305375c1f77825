import type { Family } from "./registry.ts"

/**
 * The messages between the workers and their parent process. A worker that is scraped sends its values to the parent,
 * which asks the other workers for theirs and returns the text of all.
 */
export type ToParent =
  | { readonly metrics: "scraped"; readonly id: number; readonly families: ReadonlyArray<Family> }
  | { readonly metrics: "values"; readonly id: number; readonly families: ReadonlyArray<Family> }

export type ToWorker =
  | { readonly metrics: "read"; readonly id: number }
  | { readonly metrics: "text"; readonly id: number; readonly text: string }

export const isMetricsMessage = <Message extends ToParent | ToWorker>(message: unknown): message is Message =>
  typeof message === "object" && message !== null && "metrics" in message

import type { Written } from "../../actors/operation.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"

/** The result of a statement that returns what the response shows. */
export type ViewOutcome<A, Keep = undefined> = WriteOutcome<{ readonly view: A }, Keep>
export type WrittenView<A, Keep = undefined> = Written<ViewOutcome<A, Keep>>

export const viewOf = <A>({ rows }: ViewOutcome<A, unknown>): A => rows[0]!.view

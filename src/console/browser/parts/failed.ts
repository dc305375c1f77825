import { explain } from "../platform/http.ts"
import { actionButton } from "./actions.ts"
import { h } from "./dom.ts"

/** Shows why a part of a page could not be loaded, with a button that loads it again. */
export const failed = (error: unknown, retry: () => unknown) =>
  h(
    "div",
    { class: "failed" },
    h("p", { class: "bad", role: "alert" }, explain(error)),
    actionButton("Try again", retry, { class: "plain" }),
  )

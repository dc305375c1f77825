import { actionButton } from "../parts/actions.ts"
import { h } from "../parts/dom.ts"
import { icon } from "../parts/icon.ts"
import { notify } from "../parts/notices.ts"

const isCancelled = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"

const share = async (id: string): Promise<void> => {
  const url = `${location.origin}/#/lookup/${encodeURIComponent(id)}`
  if ("share" in navigator) {
    try {
      return await navigator.share({ title: id, url })
    } catch (error) {
      if (isCancelled(error)) return
    }
  }
  try {
    await navigator.clipboard.writeText(url)
    notify("The link was copied. Paste it where you want to share this id.", "good")
  } catch {
    notify(`Your browser does not let this page copy. The link is ${url}`, "warn")
  }
}

/** A button that passes the link of an id to another app. In a browser without sharing it copies the link. */
export const shareButton = (id: string) => {
  const button = actionButton("", () => share(id), {
    class: "plain small with-icon",
    "aria-label": `Share ${id}`,
  })
  button.append(icon("share-2"), h("span", {}, "Share"))
  return button
}

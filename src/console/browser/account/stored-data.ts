import type { LoadJsonResponse, StoreKey } from "../../../client/api-types.ts"
import { actionForm, confirmButton } from "../parts/actions.ts"
import { badge, fill, h } from "../parts/dom.ts"
import { fieldError } from "../parts/field-error.ts"
import { when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { textArea } from "../records/record-fields.ts"
import { drawForId } from "./id-choice.ts"

const keys: Readonly<Record<StoreKey, string>> = {
  SvcPageData: "Page of the id",
  SvcLinkData: "Links of the page",
  VisualizerData: "Settings of the visualizer",
  VisualizerName: "Name of the visualizer",
  VisualizerFileLocations: "Files of the visualizer",
}
const keyNames = Object.keys(keys) as ReadonlyArray<StoreKey>

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : ""
    throw fieldError("data", `This is not valid JSON. ${reason}`)
  }
}

const isEmpty = ({ data }: LoadJsonResponse): boolean => JSON.stringify(data) === "{}"

const facts = (entry: LoadJsonResponse): string => {
  if (isEmpty(entry)) return "Empty"
  const bytes = new TextEncoder().encode(JSON.stringify(entry.data)).length
  return `${bytes.toLocaleString("en")} bytes · changed ${when(entry.updated_at)}`
}

interface Entry {
  readonly id: string
  readonly key: StoreKey
  readonly entry: LoadJsonResponse
  readonly again: () => Promise<void>
}

const store = ({ again, id, key }: Entry, data: unknown, done: string) =>
  call("POST /emoji_id/{emoji_id}/json/{key}", { params: { emoji_id: id, key }, body: { data } }).then(() => {
    notify(done, "good")
    return again()
  })

const entryCard = (all: Entry) => {
  const { entry, id, key } = all
  const text = JSON.stringify(entry.data, null, 2)
  return h(
    "section",
    { class: "card" },
    h("h2", {}, keys[key], " ", entry.is_locked && badge("Locked", "warn")),
    h("p", { class: "soft small" }, h("code", {}, key), ` · ${facts(entry)}`),
    entry.is_locked
      ? [
          h("p", {}, "The operator has locked this entry. It cannot be changed."),
          h("pre", { tabindex: "0" }, text),
        ]
      : h(
          "details",
          {},
          h("summary", {}, isEmpty(entry) ? "Add data" : "Read and change"),
          actionForm(
            {
              label: "Save",
              name: `Data of ${keys[key]}`,
              submit: (values) => store(all, parse(values.text("data")), "The data was saved."),
              beside:
                !isEmpty(entry) &&
                confirmButton(
                  "Delete",
                  {
                    question: `Delete the data “${keys[key]}” of ${id}?`,
                    consequence: "Applications that use this data no longer find it. It cannot be restored.",
                  },
                  () => store(all, {}, "The data was deleted."),
                  { class: "plain", sign: "trash-2", "aria-label": `Delete the data ${keys[key]}` },
                ),
            },
            textArea("Data (JSON)", "data", text, "At most 250 KB. Everyone can read it.", 10),
          ),
        ),
  )
}

/** The data that applications store with the ids of the user. */
export const drawStoredData: Section["draw"] = async (place, _, [wanted]) => {
  const chosen = h("div", {})
  fill(
    place,
    h(
      "p",
      { class: "soft" },
      "Applications store this data with your id, for example the links of its page. It is public.",
    ),
    chosen,
  )
  await drawForId(chosen, wanted, async (shown, id) => {
    const load = async (): Promise<void> => {
      const entries = await call("GET /emoji_id/{emoji_id}/json", {
        params: { emoji_id: id },
        query: { keys: keyNames.join(",") },
      })
      fill(
        shown,
        keyNames.flatMap((key) => {
          const entry = entries[key]
          return entry === undefined ? [] : [entryCard({ id, key, entry, again: load })]
        }),
      )
    }
    await load()
  })
}

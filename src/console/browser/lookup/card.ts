import type { LiveLookupResult } from "../../../client/api-types.ts"
import { badge, emojiText, fill, h, keyed } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { icon } from "../parts/icon.ts"
import { notify } from "../parts/notices.ts"
import { failure, loadInto } from "../parts/retry.ts"
import { Lifetime, type Signal, signal } from "../parts/signal.ts"
import { call } from "../platform/api.ts"
import { follow, liveState } from "../platform/live.ts"
import type { Vocabulary } from "../platform/request.ts"
import { type Checked, checkAddresses, readRecord, type ShownRecord } from "./address.ts"
import { drawOffer } from "./offer.ts"
import { type RecordRow, recordRow } from "./record-row.ts"
import { shareButton } from "./share.ts"

const eventLabels: Readonly<Record<string, string>> = {
  "emoji_id.records": "The records were just updated.",
  "emoji_id.owner": "This id has a new owner. Check the records before you send anything.",
  "emoji_id.minted": "The token of this id was just recorded.",
  "emoji_id.registered": "This id was just registered.",
  "emoji_id.released": "This id was just released.",
}

const staleText =
  "Connection lost. These records may be out of date. Do not pay to them until the connection is back."

const warning = (...children: ReadonlyArray<string>) =>
  h("p", { class: "notice warn with-icon" }, icon("triangle-alert"), h("span", {}, ...children))

/** The rows of the records by hash. The facts about the addresses arrive later than the records. */
const recordList = (isStale: Signal<boolean>) => {
  const list = h("ul", { class: "records" })
  const rows = new Map<string, RecordRow>()
  return {
    list,
    show: (records: ReadonlyArray<ShownRecord>): void => {
      keyed(list, records, {
        key: ({ hash }) => hash,
        version: ({ hash }) => hash,
        render: (record) => {
          const row = recordRow(record, isStale)
          rows.set(record.hash, row)
          return row.element
        },
      })
      if (records.length === 0) fill(list, h("li", { class: "soft" }, "This id has no records yet."))
    },
    setFacts: ({ addresses }: Checked): void => {
      for (const [hash, { setFacts }] of rows) setFacts(addresses.get(hash))
    },
  }
}

/** Shows the result of the check of the addresses, and repeats the check for later records. */
const addressCheck = (id: string, place: Element, show: (checked: Checked) => void) => {
  let checks = 0
  const check = async (records: ReadonlyArray<ShownRecord>): Promise<void> => {
    const current = ++checks
    try {
      const checked = await checkAddresses(id, records)
      if (current !== checks) return
      show(checked)
      const { ownerChange } = checked
      const at = ownerChange?.changed_at
      fill(
        place,
        ownerChange && warning(ownerChange.message, at === undefined ? "" : ` New owner since ${when(at)}.`),
      )
    } catch (error) {
      if (current !== checks) return
      const text = "The addresses could not be checked for a new owner or a wrong network."
      fill(
        place,
        warning(text),
        failure(error, () => check(records)),
      )
    }
  }
  return check
}

interface LookupCard {
  readonly id: string
  readonly categories: Vocabulary["categories"]
  readonly lifetime: Lifetime
}

/** Shows one id and updates it live. While the connection is lost, the records are shown as out of date. */
export const lookupCard = ({ categories, id, lifetime }: LookupCard): HTMLElement => {
  const isStale = signal(false)
  const records = recordList(isStale)
  const state = h("div", { class: "row middle" })
  const facts = h("p", { class: "center soft" })
  const news = h("p", { class: "center news", role: "status" })
  const staleNote = h("p", { class: "notice bad stale-note problem", role: "alert" })
  const warnings = h("div", {})
  const offer = h("div", {})
  const shownId = h("p", { class: "center" }, emojiText(id, "huge"))
  const body = h("div", {}, shownId, facts, state, staleNote, warnings, offer, records.list, news)
  const card = h("section", { class: "card lookup", "aria-label": `Lookup result for ${id}` }, body)
  const check = addressCheck(id, warnings, records.setFacts)
  let status: boolean | undefined
  let offered = new Lifetime()
  lifetime.onEnd(() => offered.end())
  let version: number | undefined

  const showStatus = (result: LiveLookupResult): void => {
    const label = result.status ? badge("Registered", "good") : badge("Not registered")
    fill(state, label, shareButton(id))
    records.list.hidden = !result.status
    if (status === result.status) return
    status = result.status
    offered.end()
    offered = new Lifetime()
    if (result.status) fill(offer)
    else drawOffer(offer, result.canonical ?? id, offered)
  }
  const showResult = (result: LiveLookupResult): void => {
    if (lifetime.hasEnded) return
    isStale.set(false)
    if (result.error !== null && result.error.code !== "not_registered") {
      fill(card, h("p", { class: "bad", role: "alert" }, result.error.reason))
      return
    }
    if (!body.isConnected) fill(card, body)
    fill(shownId, emojiText(result.canonical ?? id, "huge"))
    const isChange = version !== undefined && version !== result.version
    version = result.version
    showStatus(result)
    const shown = result.result.map((record) => readRecord(record, categories))
    records.show(shown)
    if (isChange) for (const entry of records.list.children) entry.classList.add("seen")
    if (result.status) check(shown)
    else fill(warnings)
  }
  const start = () => follow(id, { onResult: showResult, onEvent: showEvent })
  const showEvent = (event: string): void => fill(news, eventLabels[event] ?? "")
  let stop = start()
  lifetime.onEnd(() => stop())
  isStale.watch((stale) => {
    card.classList.toggle("stale", stale)
    fill(staleNote, stale && staleText)
  })
  lifetime.onEnd(
    liveState.watch((connection) => {
      if (connection === "waiting" && version !== undefined) isStale.set(true)
      if (connection !== "live" || !isStale.value) return
      // The records stay out of date until they are read again. A resumed subscription may send nothing.
      stop()
      stop = start()
    }),
  )
  records.list.addEventListener("copy", () => {
    if (isStale.value) notify(staleText, "warn")
  })
  const params = { emoji_id: id }
  loadInto(facts, lifetime, async () => {
    const [{ rhythm }, { shape }] = await Promise.all([
      call("GET /emoji_id/{emoji_id}/rhythm", { params }),
      call("GET /emoji_id/{emoji_id}/metadata", { params }),
    ])
    fill(facts, `Rhythm score ${rhythm}`, shape && ` · ${shape}`)
  })
  return card
}

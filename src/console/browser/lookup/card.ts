import type { LiveLookupResult } from "../../../client/api-types.ts"
import { badge, emojiText, fill, h, keyed } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import { loadInto } from "../parts/retry.ts"
import { Lifetime, type Signal, signal } from "../parts/signal.ts"
import { call } from "../platform/api.ts"
import { follow, liveState } from "../platform/live.ts"
import type { Vocabulary } from "../platform/request.ts"
import { type Checked, readRecord, type ShownRecord } from "./address.ts"
import { drawOffer } from "./offer.ts"
import { type RecordRow, recordRow } from "./record-row.ts"
import { makeReview } from "./review.ts"
import { shareButton } from "./share.ts"

const eventLabels: Readonly<Record<string, string>> = {
  "emoji_id.records": "The records were just updated.",
  "emoji_id.owner": "This id has a new owner. Check the records before you send anything.",
  "emoji_id.minted": "The token of this id was just recorded.",
  "emoji_id.registered": "This id was just registered.",
  "emoji_id.released": "This id was just released.",
}

const staleDoubt =
  "The connection to the service is lost. The owner may have changed the address since. Wait until the connection is back, or ask the recipient before you pay."
const refusedDoubt = "The answer of the service could not be verified. Do not pay to this address."

const staleText =
  "Connection lost. These records may be out of date. Do not pay to them until the connection is back."

/** The rows of the records by hash. The facts about the addresses arrive later than the records. */
const recordList = (id: string, doubt: Signal<string | undefined>) => {
  const list = h("ul", { class: "records" })
  const rows = new Map<string, RecordRow>()
  return {
    list,
    show: (records: ReadonlyArray<ShownRecord>): void => {
      keyed(list, records, {
        key: ({ hash }) => hash,
        version: (record) => JSON.stringify(record),
        render: (record) => {
          const row = recordRow(id, record, doubt)
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

interface LookupCard {
  readonly id: string
  readonly categories: Vocabulary["categories"]
  readonly lifetime: Lifetime
}

/** Shows one id and updates it live. While the connection is lost, the records are shown as out of date. */
export const lookupCard = ({ categories, id, lifetime }: LookupCard): HTMLElement => {
  const isStale = signal(false)
  const isRefused = signal(false)
  const doubt = signal<string | undefined>(undefined)
  const records = recordList(id, doubt)
  const state = h("div", { class: "row middle" })
  const facts = h("p", { class: "center soft" })
  const news = h("p", { class: "center news", role: "status" })
  const staleNote = h("p", { class: "notice bad stale-note problem", role: "alert" })
  const offer = h("div", { class: "offer" })
  const shownId = h("p", { class: "center" }, emojiText(id, "huge"))
  const review = makeReview({ id, lifetime, onChecked: records.setFacts, onRefused: isRefused.set })
  const body = h("div", {}, shownId, facts, state, review.element, staleNote, offer, records.list, news)
  const card = h("section", { class: "card lookup", "aria-label": `Lookup result for ${id}` }, body)
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
    review.show({ result, records: shown })
  }
  const start = () => follow(id, { onResult: showResult, onEvent: showEvent })
  const showEvent = (event: string): void => fill(news, eventLabels[event] ?? "")
  let stop = start()
  lifetime.onEnd(() => stop())
  const showDoubt = (): void => {
    card.classList.toggle("stale", isStale.value)
    card.classList.toggle("refused", isRefused.value)
    fill(staleNote, isStale.value && staleText)
    const next = isRefused.value ? refusedDoubt : isStale.value ? staleDoubt : undefined
    if (next !== doubt.value) doubt.set(next)
  }
  isRefused.watch(showDoubt)
  isStale.watch((stale) => {
    showDoubt()
    if (stale) review.lost()
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
    fill(facts, `Rhythm score of the emoji: ${rhythm}`, shape && ` · pattern “${shape}”`)
  })
  return card
}

import type { LiveLookupResult } from "../../../client/api-types.ts"
import { fill, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { icon } from "../parts/icon.ts"
import { failure } from "../parts/retry.ts"
import type { Lifetime } from "../parts/signal.ts"
import { type Checked, checkAddresses, type ShownRecord } from "./address.ts"
import { makeSeal, type SealState } from "./seal.ts"
import { mayBeLate, readProof, refusalOf } from "./signed-answer.ts"

/** The delays before the answers are read again if another process of the service may be a moment behind. */
const pausesMs = [300, 700, 1500]
/** A proof that expires is replaced, but not more often than this. */
const leastRenewalMs = 10_000

interface Shown {
  readonly result: LiveLookupResult
  readonly records: ReadonlyArray<ShownRecord>
}

type Found = SealState & { readonly checked?: Checked | undefined }

const reviewOnce = async (id: string, { records, result }: Shown): Promise<Found> => {
  const [proof, checked] = await Promise.all([
    readProof(id, result),
    result.status ? checkAddresses(id, records, result.version) : undefined,
  ])
  return { kind: "verified", proof, checked }
}

const review = async (id: string, shown: Shown, isWanted: () => boolean): Promise<Found> => {
  for (const pauseMs of [...pausesMs, undefined]) {
    try {
      return await reviewOnce(id, shown)
    } catch (error) {
      const isFinal = !mayBeLate(error) || pauseMs === undefined || !isWanted()
      if (isFinal) return { kind: refusalOf(error) === undefined ? "unchecked" : "refused", error }
    }
    await new Promise((resume) => setTimeout(resume, pauseMs))
  }
  return { kind: "checking" }
}

const warning = (...children: ReadonlyArray<string>) =>
  h("p", { class: "notice warn with-icon" }, icon("triangle-alert"), h("span", {}, ...children))

const ownerWarning = ({ ownerChange }: Checked) => {
  const at = ownerChange?.changed_at
  return ownerChange && warning(ownerChange.message, at === undefined ? "" : ` New owner since ${when(at)}.`)
}

interface Review {
  readonly id: string
  readonly lifetime: Lifetime
  /** Called when the facts about the addresses are known. */
  readonly onChecked: (checked: Checked) => void
  /** Called when the shown answer must not be trusted, and when it can be trusted again. */
  readonly onRefused: (isRefused: boolean) => void
}

/** Checks the proofs of shown results. `element` shows the outcome, and warnings about the addresses. */
export const makeReview = ({ id, lifetime, onChecked, onRefused }: Review) => {
  const warnings = h("div", {})
  let reviews = 0
  let last: Shown | undefined
  let renewal: ReturnType<typeof setTimeout> | undefined
  const seal = makeSeal(() => last && show(last))
  const forget = (): number => {
    clearTimeout(renewal)
    return ++reviews
  }
  lifetime.onEnd(forget)

  const showChecked = (checked: Checked): void => {
    onChecked(checked)
    fill(warnings, ownerWarning(checked))
  }
  /** Reads the facts about the addresses without proofs, because there are none. */
  const checkUnsigned = async ({ records }: Shown, isWanted: () => boolean): Promise<void> => {
    try {
      const checked = await checkAddresses(id, records)
      if (isWanted()) showChecked(checked)
    } catch (error) {
      if (!isWanted()) return
      const text = "The addresses could not be checked for a new owner or a wrong network."
      fill(
        warnings,
        warning(text),
        failure(error, () => last && show(last)),
      )
    }
  }
  const show = async (shown: Shown): Promise<void> => {
    last = shown
    const current = forget()
    const isWanted = () => current === reviews
    seal.set({ kind: "checking" })
    const found = await review(id, shown, isWanted)
    if (!isWanted()) return
    seal.set(found)
    onRefused(found.kind === "refused")
    if (found.checked !== undefined) showChecked(found.checked)
    else if (found.kind === "unchecked" && shown.result.status) await checkUnsigned(shown, isWanted)
    else fill(warnings)
    if (found.kind !== "verified") return
    const leftMs = found.proof.facts.expiresAt.getTime() - Date.now()
    renewal = setTimeout(() => show(shown), Math.max(leastRenewalMs, leftMs))
  }
  return {
    element: h("div", {}, seal.element, warnings),
    show,
    /** Nothing can be checked while the connection is lost. A refused answer stays refused. */
    lost: (): void => {
      forget()
      if (seal.kind() !== "refused") seal.set({ kind: "offline" })
    },
  }
}

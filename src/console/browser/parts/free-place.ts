/** Finds a place for a fixed box on the screen where it covers no form. */

interface Range {
  readonly top: number
  readonly bottom: number
}

const gap = 8
const controls = "input:not([type=hidden]), select, textarea, button, summary"

const meets = (one: DOMRect, other: DOMRect): boolean =>
  one.left < other.right && one.right > other.left && one.height > 0

/** The vertical ranges of the elements that a box with this width and horizontal position could cover. */
const rangesOf = (elements: Iterable<Element>, box: DOMRect): ReadonlyArray<Range> =>
  [...elements]
    .map((element) => element.getBoundingClientRect())
    .filter((at) => meets(at, box))
    .map(({ bottom, top }) => ({ top: top - gap, bottom: bottom + gap }))

/** The form with the focus, otherwise all forms of the page. */
const formsInUse = (): ReadonlyArray<HTMLFormElement> => {
  const form = document.activeElement?.closest("form")
  return form ? [form] : [...document.forms]
}

const controlsOf = (forms: ReadonlyArray<HTMLFormElement>) =>
  forms.flatMap((form) => [...form.querySelectorAll(controls)])

/** The controls that must stay visible even if the box cannot avoid the whole form. */
const mainControls = (forms: ReadonlyArray<HTMLFormElement>): ReadonlyArray<Element> => {
  const focused = document.activeElement
  const submits = forms.flatMap((form) => [...form.querySelectorAll("button:not([type=button])")])
  return focused?.matches(controls) ? [focused, ...submits] : submits
}

const isFree = (top: number, height: number, ranges: ReadonlyArray<Range>): boolean =>
  ranges.every((range) => top + height <= range.top || top >= range.bottom)

/** The positions to try, the preferred ones first: where the box is, at the bottom, at the top, and beside a control. */
const candidates = (current: number, height: number, ranges: ReadonlyArray<Range>, space: Range) =>
  [
    current,
    space.bottom - height,
    space.top,
    ...ranges.flatMap(({ bottom, top }) => [bottom, top - height]),
  ].filter((top) => top >= space.top && top + height <= space.bottom)

const findTop = (box: HTMLElement, space: Range): number => {
  const at = box.getBoundingClientRect()
  const forms = formsInUse()
  const everything = document.querySelectorAll(`main :is(a, ${controls})`)
  for (const avoided of [everything, controlsOf(forms), mainControls(forms)]) {
    const ranges = rangesOf(avoided, at)
    const found = candidates(at.top, at.height, ranges, space).find((top) => isFree(top, at.height, ranges))
    if (found !== undefined) return found
  }
  return space.top
}

/** The space between the top of the screen and the fixed navigation at its bottom. */
const spaceOf = (box: HTMLElement): Range => {
  const style = getComputedStyle(box)
  const margin = (name: string) => Number.parseFloat(style.getPropertyValue(name)) || 0
  return { top: margin("--notices-top"), bottom: innerHeight - margin("--notices-bottom") }
}

/** Moves the box whenever it would cover a form: after a change of its content, the focus, or the scroll position. */
export const placeFreely = (box: HTMLElement): void => {
  let isWaiting = false
  const place = (): void => {
    isWaiting = false
    if (box.childElementCount === 0) box.style.removeProperty("top")
    else {
      const space = spaceOf(box)
      const isPlaced = box.style.getPropertyValue("top") !== ""
      if (!isPlaced) box.style.setProperty("top", `${space.bottom - box.offsetHeight}px`)
      box.style.setProperty("top", `${findTop(box, space)}px`)
    }
  }
  const placeSoon = (): void => {
    if (isWaiting) return
    isWaiting = true
    requestAnimationFrame(place)
  }
  new MutationObserver(place).observe(box, { childList: true })
  new MutationObserver(placeSoon).observe(document.body, { childList: true, subtree: true })
  addEventListener("focusin", placeSoon)
  addEventListener("scroll", placeSoon, { passive: true })
  addEventListener("resize", placeSoon)
}

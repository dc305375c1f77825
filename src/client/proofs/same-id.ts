/**
 * Returns a form in which all spellings of an id are equal: without U+FE0F and skin tones, with the handshake as one
 * character and every heart red. Ids whose canonical forms differ also differ in this form.
 */
const folded = (text: string): string =>
  text
    .replaceAll(/[\u{fe0f}\u{1f3fb}-\u{1f3ff}]/gu, "")
    .replaceAll("\u{1faf1}\u200d\u{1faf2}", "\u{1f91d}")
    .replaceAll(/[🩷🧡💛💚💙🩵💜🤎🖤🩶🤍]/gu, "\u2764")

export const isSameId = (one: string, other: string): boolean => folded(one) === folded(other)

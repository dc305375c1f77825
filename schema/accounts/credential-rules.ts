/** Rules for emails and passwords. Imports no schema library, because small programs that read the settings use it. */

const maxEmailLength = 254

export const isEmail = (text: string): boolean =>
  text.length <= maxEmailLength && /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(text)

/** In code points of the NFC form. */
export const passwordLength = { minimum: 8, maximum: 200 }

/** A keyboard may send é as one code point or as two. Both must be the same password. */
export const composePassword = (password: string): string => password.normalize("NFC")

export const lengthOfPassword = (composed: string): number => Array.from(composed).length

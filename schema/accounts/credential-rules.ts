/** What an account may be opened with. Without schemas: settings are read by programs that need nothing else of them. */

const maxEmailLength = 254

export const isEmail = (text: string): boolean =>
  text.length <= maxEmailLength && /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(text)

/** In code points, composed. */
export const passwordLength = { minimum: 8, maximum: 200 }

/** A keyboard may send é as one code point or two: both are the same password. */
export const composePassword = (password: string): string => password.normalize("NFC")

export const lengthOfPassword = (composed: string): number => Array.from(composed).length

/**
 * Rules for emails and passwords. This file imports no schema library, because small programs that only read the
 * settings use it too.
 */

const maxEmailLength = 254

export const isEmail = (text: string): boolean =>
  text.length <= maxEmailLength && /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(text)

/** The allowed length of a password, in code points of its NFC form. */
export const passwordLength = { minimum: 8, maximum: 200 }

/** Converts a password to NFC. A keyboard may send é as one code point or as two. Both must be the same password. */
export const composePassword = (password: string): string => password.normalize("NFC")

export const lengthOfPassword = (composed: string): number => Array.from(composed).length

/**
 * Rules for emails and passwords. This file imports no schema library, because small programs that only read the
 * settings use it too.
 */

const maxEmailLength = 254

export const isEmail = (text: string): boolean =>
  text.length <= maxEmailLength && /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(text)

/** Characters without a visible form, such as a zero-width space. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Returns the form in which an email address is stored. All spellings of an address have the same form. So a user cannot
 * register an address that looks like the address of another user. Compatibility characters, such as full-width ones,
 * are replaced. Invisible characters, and dots at the end of the domain, are removed. The text is converted to lower case
 * and then normalised again, because the conversion can produce text that is not normalised.
 */
export const normalizeEmail = (typed: string): string =>
  typed
    .normalize("NFKC")
    .replaceAll(invisible, "")
    .replaceAll("\u3002", ".")
    .trim()
    .toLowerCase()
    .normalize("NFKC")
    .replace(/\.+$/, "")

/** The allowed length of a password, in code points of its NFC form. */
export const passwordLength = { minimum: 8, maximum: 200 }

/** Converts a password to NFC. A keyboard may send é as one code point or as two. Both must be the same password. */
export const composePassword = (password: string): string => password.normalize("NFC")

export const lengthOfPassword = (composed: string): number => Array.from(composed).length

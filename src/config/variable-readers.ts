import { Redacted } from "effect"
import {
  composePassword,
  isEmail,
  lengthOfPassword,
  passwordLength,
} from "../../schema/accounts/credential-rules.ts"

/** One environment variable: its name, description, default, and parser. */
export interface Setting<A> {
  readonly name: string
  readonly doc: string
  readonly fallback: string | undefined
  readonly parse: (text: string) => A
}

type Reader<A> = (text: string) => A

export const setting = <A>(name: string, fallback: string, doc: string, parse: Reader<A>): Setting<A> => ({
  name,
  doc,
  fallback,
  parse,
})

export const optionalSetting = <A>(name: string, doc: string, parse: Reader<A>): Setting<A | undefined> => ({
  name,
  doc,
  fallback: undefined,
  parse,
})

export const whole =
  (minimum: number, maximum: number): Reader<number> =>
  (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new Error(`expected a whole number from ${minimum} to ${maximum}`)
    }
    return value
  }

/** A share of a whole, from 0 to 1. */
export const share: Reader<number> = (text) => {
  if (!/^(0|1|0?\.\d+|[01]\.0*)$/.test(text)) throw new Error("expected a number from 0 to 1")
  return Number(text)
}

export const oneOf =
  <const A extends string>(...values: ReadonlyArray<A>): Reader<A> =>
  (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new Error(`expected one of ${values.join(", ")}`)
    return found
  }

export const url =
  (...protocols: ReadonlyArray<string>): Reader<string> =>
  (text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new Error(`expected a URL starting with ${protocols.map((p) => `${p}//`).join(" or ")}`)
    }
    return text.replace(/\/$/, "")
  }

/**
 * Reads a URL that may contain a login. User name, password and path must be valid percent-encoding, because the
 * clients decode them.
 */
export const loginUrl =
  (...protocols: ReadonlyArray<string>): Reader<string> =>
  (text) => {
    const given = url(...protocols)(text)
    const { password, pathname, username } = new URL(given)
    try {
      decodeURIComponent(username + password + pathname)
    } catch {
      throw new Error("write a % in the login or the path as %25")
    }
    return given
  }

/** Reads an address to which the service appends paths and queries. */
export const baseUrl =
  (...protocols: ReadonlyArray<string>): Reader<string> =>
  (text) => {
    const given = url(...protocols)(text)
    const { hash, password, search, username } = new URL(given)
    if (hash + password + search + username !== "") {
      throw new Error("expected an address without login, query and fragment")
    }
    return given
  }

export const plain: Reader<string> = (text) => text

const list: Reader<ReadonlyArray<string>> = (text) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

/**
 * Returns an origin in the form that browsers send, so that the Origin header of a request can be compared with it.
 */
const origin = (text: string): string => {
  const {
    hash = "",
    host = "",
    pathname = "",
    protocol,
    search = "",
  } = URL.canParse(text) ? new URL(text) : {}
  if (protocol === undefined || host === "" || !["", "/"].includes(pathname) || search + hash !== "") {
    throw new Error(`${text} is not an origin; expected the form https://shop.example`)
  }
  return `${protocol}//${host}`
}

export const origins: Reader<ReadonlyArray<string>> = (text) =>
  list(text).map((item) => (item === "*" ? item : origin(item)))

export const secret =
  (inner: Reader<string> = plain): Reader<Redacted.Redacted<string>> =>
  (text) =>
    Redacted.make(inner(text))

/** Reads a token that clients send in the Authorization header. */
export const bearerSecret: Reader<string> = (text) => {
  if (!/^[\x21-\x7e]{16,}$/.test(text))
    throw new Error("expected at least 16 visible ASCII characters without spaces")
  return text
}

/** Reads a password. Its length is counted by the same rules as the passwords of users. */
export const password: Reader<string> = (text) => {
  const length = lengthOfPassword(composePassword(text))
  const { maximum, minimum } = passwordLength
  if (length < minimum || length > maximum) throw new Error(`expected ${minimum} to ${maximum} characters`)
  return text
}

/**
 * Reads an email address by the rules of the API, so that its owner can log in. The API accepts fewer forms than mail
 * servers.
 */
export const email: Reader<string> = (text) => {
  if (!isEmail(text)) throw new Error("expected an email address")
  return text.toLowerCase()
}

export const keyList: Reader<string> = (text) => {
  const ids = new Set<string>()
  for (const part of text.split(",")) {
    const [, id] = /^\s*([\w-]{1,32}):[A-Za-z0-9+/_-]{43}=?\s*$/.exec(part) ?? []
    if (id === undefined) throw new Error("expected id:secret pairs, where each secret is 32 bytes in base64")
    if (ids.has(id)) throw new Error(`the id ${id} occurs twice`)
    ids.add(id)
  }
  return text
}

export const hexKey: Reader<string> = (text) => {
  if (!/^(0x)?[0-9a-f]{64}$/i.test(text)) throw new Error("expected 32 bytes in hex")
  return text
}

export type Read<S extends Record<string, Setting<unknown>>> = {
  readonly [K in keyof S]: S[K] extends Setting<infer A> ? A : never
}

/** Reads all settings from the environment. Returns their values, or one line for each invalid setting. */
export const readSettings = <S extends Record<string, Setting<unknown>>>(
  settings: S,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly values: Read<S> } | { readonly problems: ReadonlyArray<string> } => {
  const values: Record<string, unknown> = {}
  const problems: Array<string> = []
  for (const [key, { fallback, name, parse }] of Object.entries(settings)) {
    const given = environment[name]
    const text = given === undefined || given === "" ? fallback : given
    if (text === undefined) continue
    try {
      values[key] = parse(text)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
  }
  return problems.length > 0 ? { problems } : { values: values as Read<S> }
}

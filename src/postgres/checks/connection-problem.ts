import type { DatabaseServer } from "../../config/database-url.ts"

interface Failure {
  readonly code?: string
  readonly message: string
}

/** What happened, and what the operator can do. */
type Explanation = readonly [what: string, advice: string]
type Explain = (place: string, message: string) => Explanation

const unreached = "Check the address, and the firewalls between this machine and Postgres."
const addRule = "Add an entry for this role and address to pg_hba.conf."
const untrusted: Explain = (place, message) => [
  `the certificate of ${place} is not trusted: ${message}`,
  "Name the certificate of the authority with ?sslrootcert=FILE.",
]

/** By the error codes of the operating system, of the client, and of Postgres (SQLSTATE). */
const explanations: Readonly<Record<string, Explain>> = {
  ECONNREFUSED: (place) => [
    `connection refused at ${place}`,
    "Start Postgres there, or correct the address.",
  ],
  ENOTFOUND: (place) => [`the host of ${place} is unknown`, "Correct the name of the host."],
  EAI_AGAIN: (place) => [
    `the name of ${place} cannot be resolved at the moment`,
    "Check the DNS server of this machine, or correct the name of the host.",
  ],
  EHOSTUNREACH: (place) => [`there is no route to ${place}`, unreached],
  ENETUNREACH: (place) => [`there is no route to ${place}`, unreached],
  ETIMEDOUT: (place) => [`no answer from ${place}`, unreached],
  CONNECT_TIMEOUT: (place) => [`no answer from ${place}`, unreached],
  ENOENT: (place) => [
    `there is no Unix socket of Postgres in ${place}`,
    "Start Postgres, or correct the folder (host=).",
  ],
  EACCES: (place) => [
    `this user may not open the Unix socket in ${place}`,
    "Correct the permissions of the folder.",
  ],
  ECONNRESET: (place, message) =>
    message.includes("TLS")
      ? [
          `the server at ${place} offers no TLS, which sslmode requires`,
          "Turn on TLS there (ssl = on), or remove sslmode if the network is trusted.",
        ]
      : [`the connection to ${place} was reset`, "Check that Postgres listens there."],
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: (place) => [`the certificate of ${place} has expired`, "Renew it."],
  ERR_TLS_CERT_ALTNAME_INVALID: (place, message) => [
    `the certificate of ${place} is for another host: ${message}`,
    "Use the host name of the certificate in the URL.",
  ],
  "28P01": (place, message) => [
    `${message}, at ${place}`,
    "Correct the user or the password in the URL. Write special characters as %XX, for example @ as %40.",
  ],
  "28000": (place, message) => [
    `${message}, at ${place}`,
    /no pg_hba\.conf entry/.test(message)
      ? message.includes("no encryption")
        ? `${addRule} If the server accepts only TLS, add ?sslmode=require to the URL.`
        : addRule
      : "Correct the user in the URL, or allow it to log in (alter role … login).",
  ],
  "3D000": (place, message) => [
    `${message}, at ${place}`,
    "Create it (create database NAME owner ROLE encoding 'UTF8' template template0), or correct the name in the URL.",
  ],
  "53300": (place, message) => [
    `${message}, at ${place}`,
    "Raise max_connections, or the connection limit of the role. A process needs POOL_SIZE + 7 connections.",
  ],
  "57P03": (place, message) => [`${message}, at ${place}`, "Start the service again when Postgres is ready."],
  "42501": (_, message) => [
    message,
    "The role must own the objects of the service, and may create objects in the schema. Use the role of earlier starts.",
  ],
  "25006": (place, message) => [
    `the server at ${place} is read-only: ${message}`,
    "Connect to the primary. With several servers, name all of them in the URL.",
  ],
  "53100": (place, message) => [`the disk of ${place} is full: ${message}`, "Free disk space."],
}

/** What happened, in a few words, or undefined if the error has another cause than the connection. */
const explain = (error: unknown, { name }: DatabaseServer): Explanation | undefined => {
  const { code = "", message } = error as Failure
  return explanations[code]?.(name, message)
}

/**
 * Returns an error for the operator, which names the setting, what happened and what to do. Errors that are not about the
 * connection or the rights of its role are returned as they are. Messages of Postgres contain no passwords.
 */
export const toConnectionProblem = (error: unknown, server: DatabaseServer): unknown => {
  const found = explain(error, server)
  return found === undefined ? error : new Error(`DATABASE_URL: ${found[0]}. ${found[1]}`, { cause: error })
}

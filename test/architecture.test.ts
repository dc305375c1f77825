import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { describe, expect, it } from "vitest"

const root = resolve(import.meta.dirname, "..")

interface Import {
  readonly file: string
  readonly to: string
}

const sourceFiles = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file))

const importsOf = (file: string): ReadonlyArray<Import> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/(?:from|import) "([^"]+)"/g)].map(([, to = ""]) => ({
    file,
    to: to.startsWith(".") ? relative(root, resolve(root, dirname(file), to)) : to,
  }))

/** Run by hand to write committed files; never part of the service. */
const buildTools = ["schema/directory/emoji-table-generate.ts"]

const all = ["schema", "machines", "actors", "src"].flatMap(sourceFiles)

describe("the direction of imports", () => {
  const allowed: Record<string, RegExp> = {
    schema: /^(schema\/|effect$|effect\/|@noble\/|node:crypto$)/,
    machines: /^(machines\/|schema\/|xstate$)/,
    actors: /^(actors\/|machines\/|schema\/|effect$|effect\/|xstate$|node:crypto$)/,
  }
  it.each(Object.keys(allowed))("%s imports only what it may", (folder) => {
    const offences = sourceFiles(folder)
      .filter((file) => !buildTools.includes(file))
      .flatMap(importsOf)
      .filter(({ to }) => !allowed[folder]!.test(to))
    expect(offences).toEqual([])
  })
})

describe("the doors", () => {
  const doors: Record<string, ReadonlyArray<string>> = {
    "uWebSockets.js": ["src/http/uws.ts"],
    postgres: ["src/postgres/sql.ts"],
    ioredis: ["src/cluster/redis.ts"],
    jose: ["src/accounts/sessions/tokens.ts"],
    otplib: ["src/accounts/two-factor/totp.ts"],
    rxjs: ["src/live/hub.ts"],
    stripe: ["src/orders/payments/stripe.ts"],
    nodemailer: ["src/mail/smtp.ts"],
  }
  it.each(Object.entries(doors))("%s is imported only by its door", (name, files) => {
    const offences = all.filter(
      (file) =>
        !files.includes(file) &&
        new RegExp(`^import (?!type ).*from "${name.replace(".", "\\.")}(/[^"]*)?"`, "m").test(
          readFileSync(join(root, file), "utf8"),
        ),
    )
    expect(offences).toEqual([])
  })

  it("the environment is read only by the configuration and handed on only by the start and to the socket server", () => {
    const offences = all.filter(
      (file) =>
        !["src/config/config.ts", "src/start.ts", "src/http/uws.ts"].includes(file) &&
        readFileSync(join(root, file), "utf8").includes("process.env"),
    )
    expect(offences).toEqual([])
  })
})

describe("the statements", () => {
  it("no code opens a multi-statement transaction or reserves a connection", () => {
    const offences = all.filter((file) =>
      /\.(begin|reserve|savepoint)\(/.test(readFileSync(join(root, file), "utf8")),
    )
    expect(offences).toEqual([])
  })
})

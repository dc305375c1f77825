import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { platform, subjects } from "./allowed-imports.ts"

const root = resolve(import.meta.dirname, "..")

interface Import {
  readonly file: string
  readonly to: string
}

const read = (file: string): string => readFileSync(join(root, file), "utf8")

const sourceFiles = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))
    .map((file) => join(folder, file))

const importsOf = (file: string): ReadonlyArray<Import> =>
  [...read(file).matchAll(/(?:\bfrom |\bimport |\bimport\()"([^"]+)"/g)].map(([, to = ""]) => ({
    file,
    to: to.startsWith(".") ? relative(root, resolve(root, dirname(file), to)) : to,
  }))

/** Scripts that write committed files. They are not part of the service. */
const buildTools = ["schema/directory/emoji-table-generate.ts"]

const all = ["schema", "machines", "actors", "src"].flatMap(sourceFiles)

describe("the layer", () => {
  const allowed: Record<string, RegExp> = {
    schema: /^(schema\/|effect$|effect\/|@noble\/|node:crypto$)/,
    machines: /^(machines\/|schema\/|xstate$)/,
    actors: /^(actors\/|machines\/|schema\/|effect$|effect\/|xstate$|node:crypto$)/,
  }
  it.each(Object.keys(allowed))("%s imports only allowed modules", (folder) => {
    const offences = sourceFiles(folder)
      .filter((file) => !buildTools.includes(file))
      .flatMap(importsOf)
      .filter(({ to }) => !allowed[folder]!.test(to))
    expect(offences).toEqual([])
  })
})

describe("the folders of src", () => {
  const table: Readonly<Record<string, ReadonlyArray<string>>> = { ...platform, ...subjects }
  /** The folder of a file, or undefined for the files directly under src, which join the subjects. */
  const folderOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1]
  const edges = sourceFiles("src")
    .flatMap(importsOf)
    .flatMap(({ file, to }) => {
      const [from, target] = [folderOf(file), folderOf(to)]
      return from === undefined || target === undefined || from === target ? [] : [{ file, from, target }]
    })

  it("are all listed in test/allowed-imports.ts", () => {
    const folders = new Set(sourceFiles("src").flatMap((file) => folderOf(file) ?? []))
    expect([...folders].toSorted()).toEqual(Object.keys(table).toSorted())
  })

  it("import only the folders that test/allowed-imports.ts allows", () => {
    const mayUsePlatform = (from: string, target: string) => !(from in platform) && target in platform
    const offences = edges.filter(
      ({ from, target }) => !mayUsePlatform(from, target) && !table[from]?.includes(target),
    )
    expect(offences).toEqual([])
  })

  it("use every import that test/allowed-imports.ts allows", () => {
    const used = new Set(edges.map(({ from, target }) => `${from} -> ${target}`))
    const unused = Object.entries(table)
      .flatMap(([from, targets]) => targets.map((target) => `${from} -> ${target}`))
      .filter((edge) => !used.has(edge))
    expect(unused).toEqual([])
  })

  it("have no import cycle", () => {
    const below = (folder: string, path: ReadonlyArray<string>): ReadonlyArray<string> =>
      path.includes(folder)
        ? [[...path, folder].join(" -> ")]
        : (table[folder] ?? []).flatMap((target) => below(target, [...path, folder]))
    expect(Object.keys(table).flatMap((folder) => below(folder, []))).toEqual([])
  })

  it("have at most 25 files each, and so do the folders of schema, machines, actors and test", () => {
    const perFolder = new Map<string, number>()
    for (const file of [...all, ...sourceFiles("test")].filter((file) => file.endsWith(".ts")))
      perFolder.set(dirname(file), (perFolder.get(dirname(file)) ?? 0) + 1)
    expect([...perFolder].filter(([, count]) => count > 25)).toEqual([])
  })

  it("contain SQL only in `*-store.ts` files and in the folders postgres, turns and cluster", () => {
    const maySend = /^src\/(postgres|turns|cluster)\/|-store\.ts$/
    const offences = sourceFiles("src").filter(
      (file) => !maySend.test(file) && /\b(q|sql)`|\bq(<\w+>)?\(/.test(read(file)),
    )
    expect(offences).toEqual([])
  })
})

describe("the source code", () => {
  const importers: Record<string, ReadonlyArray<string>> = {
    "uWebSockets.js": ["src/http/uws.ts"],
    postgres: ["src/postgres/client.ts"],
    ioredis: ["src/cluster/redis.ts"],
    jose: ["src/accounts/sessions/tokens.ts"],
    otplib: ["src/accounts/two-factor/totp.ts"],
    rxjs: ["src/live/hub.ts", "src/client/rxjs.ts"],
    stripe: ["src/orders/payments/stripe.ts"],
    nodemailer: ["src/mail/smtp-check.ts", "src/mail/smtp-connection.ts", "src/mail/smtp.ts"],
  }
  it.each(Object.entries(importers))("imports the library %s in only one file", (name, files) => {
    const offences = all.filter(
      (file) =>
        !files.includes(file) &&
        new RegExp(`^import (?!type ).*from "${name.replace(".", "\\.")}(/[^"]*)?"`, "m").test(read(file)),
    )
    expect(offences).toEqual([])
  })

  it("uses process.env only in the configuration, in the startup and in the loader of the native server", () => {
    const offences = all.filter(
      (file) =>
        !["src/config/read-config.ts", "src/start.ts", "src/http/uws.ts"].includes(file) &&
        read(file).includes("process.env"),
    )
    expect(offences).toEqual([])
  })
})

describe("the SQL code", () => {
  it("opens no multi-statement transaction and reserves no connection", () => {
    const offences = all.filter((file) => /\.(begin|reserve|savepoint)\(/.test(read(file)))
    expect(offences).toEqual([])
  })
})

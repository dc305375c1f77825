import { describe, expect, it } from "vitest"
import { readDatabaseUrl } from "../../src/config/database-url.ts"
import { readConfig } from "../../src/config/read-config.ts"

const problems = (DATABASE_URL: string) => {
  const read = readConfig({ DATABASE_URL })
  return "problems" in read ? read.problems : []
}
const names = (url: string) => readDatabaseUrl(url).servers.map(({ name }) => name)

describe("a database URL with several servers", () => {
  it.each([
    ["postgres://u@h1:6001,h2:6002/db?target_session_attrs=read-write", ["h1:6001", "h2:6002"]],
    ["postgres://u:p%40ss@h1,h2:6002,h3/db", ["h1:5432", "h2:6002", "h3:5432"]],
    ["postgres://u@[::1]:6001,[fe80::2]/db", ["::1:6001", "fe80::2:5432"]],
    ["postgresql:///db?host=h1,h2&port=6001,6002", ["h1:6001", "h2:6002"]],
    ["postgresql:///db?host=h1,h2&port=6001", ["h1:6001", "h2:6001"]],
    ["postgres://u@/db?host=/run/one,::1,h3", ["/run/one", "::1:5432", "h3:5432"]],
    ["postgres://u@%2Frun%2Fone,h2/db", ["/run/one", "h2:5432"]],
    ["postgres://u@h1,h2:6002/db?host=&port=", ["h1:5432", "h2:6002"]],
    ["postgres://u@localhost:6000/db?host=h1,h2", ["h1:6000", "h2:6000"]],
    ["postgres://u@h1:6001,h2/db?host=h3,h4", ["h3:6001", "h4:5432"]],
    ["postgres://u@h1:6001,h2:6002/db?port=6003", ["h1:6003", "h2:6003"]],
  ])("is accepted, and the service uses only the primary: %s", (url, expected) => {
    expect(problems(url)).toEqual([])
    expect(names(url)).toEqual(expected)
    expect(readDatabaseUrl(url).needsPrimary).toBe(true)
  })

  it("keeps login, database and parameters for each server", () => {
    const { servers } = readDatabaseUrl(
      "postgres://me:p%40ss@h1,h2/db?search_path=directory&connect_timeout=3",
    )
    for (const [i, { options, url }] of servers.entries()) {
      expect(options).toEqual({ host: `h${i + 1}`, port: "5432" })
      expect(url).toBe("postgres://me:p%40ss@localhost/db?search_path=directory")
    }
  })

  it.each([
    ["postgres://u@h1,h2/db?port=1,2,3", "port lists 3 ports for 2 servers"],
    ["postgres://u@h1:6001,h2:6002/db?host=h3,h4,h5", "port lists 2 ports for 3 servers"],
    ["postgres://u@h1,h2/db?host=h3", "port lists 2 ports for 1 servers"],
    ["postgres://u@h1:0,h2/db", "port=0 is not a valid port"],
    ["postgres://u@h1,h2:65536/db", "port=65536 is not a valid port"],
    ["postgres://u@h1,,h2/db", "a server in the list has no host"],
  ])("is rejected at startup if the list is wrong: %s", (url, reason) => {
    expect(problems(url)).toEqual([`DATABASE_URL: ${reason}`])
  })
})

describe("the parameter target_session_attrs", () => {
  it.each(["primary", "read-write"])("can be `%s`, and the server must then be the primary", (value) => {
    const url = `postgres://u@h1/db?target_session_attrs=${value}`
    expect(problems(url)).toEqual([])
    expect(readDatabaseUrl(url).needsPrimary).toBe(true)
  })

  it("can be missing or `any`; then a single server is used as it is", () => {
    for (const url of ["postgres://u@h1/db", "postgres://u@h1/db?target_session_attrs=any"])
      expect(readDatabaseUrl(url).needsPrimary).toBe(false)
  })

  it.each(["read-only", "standby", "prefer-standby", "leader"])("cannot be `%s`", (value) => {
    expect(problems(`postgres://u@h1,h2/db?target_session_attrs=${value}`)).toEqual([
      `DATABASE_URL: target_session_attrs=${value} is not supported: the service writes, so it needs the primary; use primary or read-write`,
    ])
  })
})

import { join } from "node:path"
import { emojis } from "../../schema/emoji.ts"
import { startEmbeddedPostgres } from "../../src/store/embedded.ts"
import { migrate } from "../../src/store/migrate.ts"
import { connect } from "../../src/store/sql.ts"

const base = emojis.length
const idLength = 4

/** The n-th stored id: its four emoji are n written in base 447, so that a generator can name any without a list. */
export const storedId = (n: number): string => {
  let rest = n
  let text = ""
  for (let place = 0; place < idLength; place++) {
    text += emojis[rest % base]!.canonical
    rest = Math.floor(rest / base)
  }
  return text
}

/** Fills the database a service will start on with so many registered ids, each with an address and a link. */
export async function storeIds(directory: string, count: number): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir: join(directory, "postgres") })
  const connection = { socketDir: server.socketDir, port: server.port, database: "postgres" }
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 600_000 })
  try {
    await migrate(sql)
    const canonicals = emojis.map(({ canonical }) => `'${canonical}'`).join(",")
    // One simple query, so that the setting that spares a million foreign-key checks lasts for all of it.
    await sql
      .unsafe(
        `set session_replication_role = replica;
         insert into app_user (id, email) values ('00000000-0000-4000-8000-000000000001', 'stored@example.com');
         create temporary table stored as
         select n, e.a[n % ${base} + 1] || e.a[n / ${base} % ${base} + 1] || e.a[n / ${base ** 2} % ${base} + 1]
                   || e.a[n / ${base ** 3} % ${base} + 1] as canonical
           from generate_series(0, ${count - 1}) n, (select array[${canonicals}] as a) e;
         insert into emoji_id (canonical, owner_id, source)
         select canonical, '00000000-0000-4000-8000-000000000001', 'order:stored' from stored;
         insert into claim (canonical, kind, holder, owner_id)
         select canonical, 'owned', '00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000001' from stored;
         insert into record (canonical, hash, tag, data)
         select canonical, encode(sha256(('a' || n)::bytea), 'hex'), ${0x1003}, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' from stored
         union all
         select canonical, encode(sha256(('b' || n)::bytea), 'hex'), ${0x4001}, 'https://example.com/' || n from stored;
         reset session_replication_role;
         analyze`,
      )
      .simple()
  } finally {
    await sql.end()
    await server.stop()
  }
}

import { randomBytes } from "node:crypto"
import { rmSync } from "node:fs"
import { join } from "node:path"
import type { Build } from "../../../../bench/process/bundle.ts"
import { freePort } from "../../../fixtures/free-port.ts"
import { makeScratch } from "../../../fixtures/scratch.ts"
import { makeRedis, type TestRedis } from "../../../fixtures/servers/redis.ts"
import { type Link, openLink } from "./link.ts"
import { type MailSink, startMailSink } from "./mail-sink.ts"
import { Member } from "./member.ts"
import { type FleetPostgres, startPostgres } from "./postgres.ts"

export const admin = { email: "root@faults.example", password: `admin-${randomBytes(9).toString("hex")}` }

/** How long a checkout holds its ids. It is short, so that orders also expire during a run. */
const cartTtlSeconds = 20
const firstBackends = 100

/** The processes of the service, and everything they need. */
export interface Fleet {
  readonly folder: string
  readonly members: ReadonlyArray<Member>
  readonly postgres: FleetPostgres
  readonly redis: TestRedis
  readonly redisLink: Link
  readonly mail: MailSink
  /** Ends all faults of the network and of the servers. */
  heal(): void
  stop(): Promise<void>
}

interface FleetOptions {
  /** The program of each process. */
  readonly builds: ReadonlyArray<Build>
  /** Variables of single processes, by position. */
  readonly environments?: ReadonlyArray<Readonly<Record<string, string>>>
}

export const startFleet = async ({ builds, environments = [] }: FleetOptions): Promise<Fleet> => {
  const folder = makeScratch()
  const [postgres, mail, redis] = await Promise.all([startPostgres(folder), startMailSink(), makeRedis()])
  await redis.start()
  const { hostname, port: redisPort } = new URL(redis.url)
  const redisLink = await openLink(() => ({ host: hostname, port: Number(redisPort) }))
  const ports = await Promise.all(builds.map(() => freePort()))
  const secretKeys = `faults:${randomBytes(32).toString("base64url")}`
  const mintKey = randomBytes(32).toString("hex")
  const members = await Promise.all(
    builds.map(async (build, place) => {
      const database = await postgres.link()
      return new Member({
        name: String.fromCharCode(65 + place),
        port: ports[place]!,
        build,
        database,
        logFile: join(folder, `process-${place}.log`),
        environment: {
          NODE_ENV: "test",
          DEMO: "false",
          HOST: "127.0.0.1",
          PORT: String(ports[place]),
          // All processes issue and accept the same tokens.
          BASE_URL: `http://127.0.0.1:${ports[0]}`,
          DATABASE_URL: `postgres://postgres@127.0.0.1:${database.port}/postgres`,
          REDIS_URL: `redis://127.0.0.1:${redisLink.port}`,
          SMTP_URL: mail.url,
          SECRET_KEYS: secretKeys,
          MINT_KEY: mintKey,
          ADMIN_EMAIL: admin.email,
          ADMIN_PASSWORD: admin.password,
          DATA_DIR: join(folder, `data-${place}`),
          RATE_LIMIT: "off",
          LOG_LEVEL: "Warn",
          DRAIN_SECONDS: "2",
          CART_TTL_SECONDS: String(cartTtlSeconds),
          TRANSFER_BLOCK_SECONDS: "1",
          ...environments[place],
        },
      })
    }),
  )
  const heal = () => {
    for (const { database } of members) database.heal()
    redisLink.heal()
    mail.heal()
    postgres.disk.free()
    for (const member of members) member.goOn()
  }
  // Nothing of the fleet stays behind if the harness itself is ended.
  const abandon = () => {
    for (const member of members) member.abandon()
    postgres.disk.abandon()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once("exit", abandon)
  const stop = async () => {
    process.off("exit", abandon)
    heal()
    await Promise.all(members.map((member) => member.end("SIGTERM", 20_000)))
    await postgres.stop()
    redisLink.close()
    await Promise.all([redis.stop(), mail.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    // The first process migrates the database and creates the administrator.
    for (const member of members) {
      member.start()
      await member.untilReady()
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { folder, members, postgres, redis, redisLink, mail, heal, stop }
}

/** Ends connections of all processes at the server, as a failover or an administrator does. */
export const terminateBackends = ({ postgres: { sql } }: Fleet, most = firstBackends) =>
  sql`select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity where backend_type = 'client backend' and application_name <> 'faults'
           and pid <> pg_backend_pid() order by random() limit ${most}) doomed`.catch(() => [])

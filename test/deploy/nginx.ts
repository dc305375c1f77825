import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../fixtures/free-port.ts"
import { certificates } from "../fixtures/servers/certificates.ts"
import { untilUp } from "../fixtures/servers/redis.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { findProgram } from "../fixtures/suite/system-program.ts"

export const nginxBinary = findProgram("nginx")

const temporaryPaths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]

/** Replaces a part of the file. Throws if it is not there, because the test would then test something else. */
const replaced = (text: string, part: string, by: string): string => {
  if (!text.includes(part)) throw new Error(`deploy/nginx.conf does not contain: ${part}`)
  return text.replaceAll(part, by)
}

/** Starts nginx with deploy/nginx.conf in front of two services on this machine. Only names and addresses are changed. */
export const startNginx = async (services: readonly [number, number]) => {
  const folder = mkdtempSync(join(tmpdir(), "nginx-"))
  chmodSync(folder, 0o755)
  const [http, https] = [await freePort(), await freePort()]
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const changes: ReadonlyArray<readonly [string, string]> = [
    ["127.0.0.1:3001", `127.0.0.1:${services[0]}`],
    ["127.0.0.1:3002", `127.0.0.1:${services[1]}`],
    ["\tlisten [::]:80;\n", ""],
    ["\tlisten [::]:443 ssl http2;\n", ""],
    ["listen 80;", `listen 127.0.0.1:${http};`],
    ["listen 443 ssl", `listen 127.0.0.1:${https} ssl`],
    ["/etc/letsencrypt/live/directory.example/fullchain.pem", file("chain.pem", certificates.server)],
    ["/etc/letsencrypt/live/directory.example/privkey.pem", file("key.pem", certificates.serverKey)],
    ["directory.example", "localhost"],
  ]
  const shipped = readFileSync(join(import.meta.dirname, "../../deploy/nginx.conf"), "utf8")
  const site = file(
    "site.conf",
    changes.reduce((text, [part, by]) => replaced(text, part, by), shipped),
  )
  const main = file(
    "nginx.conf",
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; worker_processes 1;
     events { worker_connections 512; }
     http { access_log off; ${temporaryPaths.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")} include ${site}; }`,
  )
  const child = spawn(nginxBinary ?? "nginx", ["-c", main, "-p", folder], { stdio: "ignore" })
  cleanUp(async () => {
    if (child.kill("SIGQUIT")) await once(child, "exit")
    rmSync(folder, { recursive: true, force: true })
  })
  await untilUp(child, { host: "127.0.0.1", port: https })
  return { http, https }
}

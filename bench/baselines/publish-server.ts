import { createServer, type Server } from "node:http"
import { machineMs } from "../machine-clock.ts"

const prefix = "/publish/"

/** Serves POST /publish/{channel} with Node's HTTP server. The response is the time before the publication. */
export const publishServer = (publish: (channel: string) => void): Server =>
  createServer((request, response) => {
    const { method, url = "" } = request
    if (method !== "POST" || !url.startsWith(prefix)) {
      response.writeHead(404).end()
      return
    }
    const at = machineMs()
    publish(decodeURIComponent(url.slice(prefix.length)))
    response.end(String(at))
  })

import type { ConnectFrame, SubscribeFrame } from "../../client/api-types.ts"
import { h } from "../../web/browser/elements.ts"
import { labelled } from "./labelled.ts"
import { accessToken } from "./login.ts"

const mostLines = 200

/** Adds a form that subscribes to a channel and shows all frames. */
export const addLiveForm = (): void => {
  const place = document.getElementById("live-try")
  if (place === null) return
  const channel = h("input", { value: "emoji_id:🚀🌊🔥", required: true, autocomplete: "off" })
  const log = h("pre", { tabindex: "0", role: "log", "aria-label": "Frames", hidden: true })
  const button = h("button", {}, "Connect")
  let socket: WebSocket | undefined
  const note = (line: string): void => {
    log.hidden = false
    log.append(`${line}\n`)
    while (log.childNodes.length > mostLines) log.firstChild?.remove()
    log.scrollTop = log.scrollHeight
  }
  const send = (frame: ConnectFrame | SubscribeFrame): void => {
    note(`→ ${JSON.stringify("token" in frame ? { ...frame, token: "…" } : frame)}`)
    socket?.send(JSON.stringify(frame))
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (socket !== undefined) {
      socket.close()
      return
    }
    const token = accessToken()
    socket = new WebSocket(`${location.origin.replace("http", "ws")}/live`)
    button.textContent = "Disconnect"
    socket.onopen = () => {
      send({ type: "connect", ...(token === undefined ? {} : { token }) })
      send({ type: "subscribe", channel: channel.value })
    }
    socket.onmessage = ({ data }) => note(`← ${data}`)
    socket.onclose = ({ code }) => {
      note(`closed with ${code}`)
      socket = undefined
      button.textContent = "Connect"
    }
  }
  place.append(
    h(
      "details",
      { class: "try" },
      h("summary", {}, "Try it: watch a channel"),
      h("form", { onsubmit: submit }, labelled("Channel", channel), h("p", {}, button), log),
    ),
  )
}

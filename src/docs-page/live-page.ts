import { clientFrames, liveLimits, serverFrames } from "../../schema/live-frames.ts"
import { type Html, html } from "../web/html.ts"
import type { Shape } from "./document.ts"
import { codeBlock } from "./layout.ts"
import { eventsView } from "./live-events.ts"
import { operationView } from "./operation-view.ts"
import { liveGroup, operationsOf, type Reference } from "./reference.ts"
import { membersView } from "./shapes.ts"

const conversation = `→ {"type":"connect"}
← {"type":"connected","user_id":null,"expires_at":null}
→ {"type":"subscribe","channel":"emoji_id:🚀🌊🔥"}
← {"type":"subscribed","channel":"emoji_id:🚀🌊🔥","epoch":"5b0e…","offset":41,"recovered":false,"state":{…}}
← {"type":"event","channel":"emoji_id:🚀🌊🔥","offset":42,"event":"emoji_id.records",
   "data":{"emoji_id":"🚀🌊🔥","version":7,"inserted":["0668…"],"deleted":["51a0…"]},"at":"2026-01-31T12:00:07.120Z"}
   … the connection breaks …
→ {"type":"connect"}
→ {"type":"subscribe","channel":"emoji_id:🚀🌊🔥","epoch":"5b0e…","offset":42}
← {"type":"subscribed","channel":"emoji_id:🚀🌊🔥","epoch":"5b0e…","offset":42,"recovered":true}
← {"type":"event","channel":"emoji_id:🚀🌊🔥","offset":43,…}`

/** An example of each frame. */
const frames: Readonly<Record<string, object>> = {
  connect: { type: "connect", token: "eyJ…" },
  subscribe: {
    type: "subscribe",
    channel: "cart",
    epoch: "00000000-0000-4000-8000-000000000001",
    offset: 42,
  },
  unsubscribe: { type: "unsubscribe", channel: "cart" },
  lookup: { type: "lookup", id: "1", emoji_ids: ["🚀🌊🔥"] },
  ping: { type: "ping", id: "2" },
  connected: {
    ...{ type: "connected", user_id: "00000000-0000-4000-8000-000000000002" },
    expires_at: "2026-01-31T12:15:00.000Z",
  },
  subscribed: {
    ...{ type: "subscribed", channel: "cart", epoch: "00000000-0000-4000-8000-000000000001", offset: 42 },
    recovered: true,
  },
  unsubscribed: { type: "unsubscribed", channel: "cart", reason: "asked" },
  event: {
    ...{ type: "event", channel: "emoji_id:🚀🌊🔥", offset: 43, event: "emoji_id.owner" },
    data: { emoji_id: "🚀🌊🔥" },
    at: "2026-01-31T12:00:00.000Z",
  },
  records: { type: "records", id: "1", results: [] },
  error: {
    type: "error",
    code: "unknown_channel",
    error: "There is no channel with this name.",
    channel: "car",
  },
  pong: { type: "pong", id: "2" },
}

const whatToDo: Readonly<Record<string, string>> = {
  lost: "The network failed, or the client read too slowly. Connect again with backoff, and resume.",
  restart: "The process restarts. Connect again after a random delay of up to a second.",
  tryLater: "The token could not be checked. Connect again with backoff.",
  defect: "Internal error. Connect again with backoff.",
  badFrames: "Too many invalid frames: a client bug. Do not retry.",
  unauthorized: "The token is not valid. Get a new one, then connect again.",
  tokenExpired: "The token has expired. Get a new one, then connect again.",
  sessionEnded: "The session has ended. Connect again after a sign-in, or without a token.",
  connectTimeout: "No connect within 5 seconds: a client bug. Do not retry.",
  tooManyFrames: "Too many frames. Connect again with backoff, and send less.",
}

const audiences: Readonly<Record<string, string>> = {
  public: "everyone",
  user: "the user",
  party: "its parties and admins",
}

export const livePage = (reference: Reference): Html => {
  const { asyncApi } = reference
  const payloadOf = (name: string): Shape => {
    const { payload } = asyncApi.components.messages[name] as { readonly payload: { readonly $ref?: string } }
    const schemas = asyncApi.components.schemas as Record<string, Shape>
    return schemas[payload.$ref?.split("/").at(-1) ?? ""] ?? (payload as Shape)
  }
  const frame = (name: string) => {
    const { summary } = asyncApi.components.messages[name] as { readonly summary: string }
    return html`<section class="operation" id="frame-${name}"><h3><code>${name}</code></h3><p>${summary}</p>
${codeBlock(JSON.stringify(frames[name], null, 2))}<details class="members"><summary>Members</summary>${membersView(payloadOf(name))}</details></section>`
  }
  return html`<p>One WebSocket at <code>/live</code> carries all changes as JSON frames. A client subscribes to channels, gets the state of each, and then
every later event, in order and without gaps, also across lost connections. <a href="/asyncapi.json">/asyncapi.json</a> describes the same
for programs.</p>
${codeBlock(conversation, "→ client, ← server")}
<div id="live-try"></div>
<h2 id="guarantees">Guarantees</h2>
<ul>
<li>A channel is an ordered log. Each event has the offset of the event before plus one, assigned in the transaction of its change.</li>
<li>After <code>subscribed</code> with offset <var>n</var> follow the events <var>n</var>+1, <var>n</var>+2, … without gaps and duplicates.</li>
<li>An offset is valid only with its <code>epoch</code>. Store both, and send both when you subscribe again.</li>
<li><code>recovered: true</code>: exactly the missed events follow. <code>recovered: false</code>: replace everything you know by <code>state</code>.
The server may send this at any time, for example after more than ${liveLimits.replayEvents} missed events.</li>
<li>A state may include the first events after it. Applying such an event again must have no effect.</li>
<li>A lookup after an event shows at least the state of the event, on every process.</li>
<li>Ignore frames, members and events that you do not know.</li>
</ul>
<h2 id="channels">Channels</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th>channel</th><th>for</th><th>what it reports</th><th>events</th></tr></thead><tbody>
${asyncApi["x-channels"].map(({ audience, events, name, summary }) => html`<tr><td><code>${name}</code></td><td>${audiences[audience] ?? audience}</td><td>${summary}</td><td>${events.map((event) => html`<a href="#event-${event}">${event}</a> `)}</td></tr>`)}
</tbody></table></div>
<p>The state of <code>emoji_id:{emoji_id}</code> is one result of <code>lookup</code>. The state of <code>cart</code> is the answer of
<a href="/docs/cart#getItems">GET /cart</a>, that of <code>order:{id}</code> of <a href="/docs/orders#getOrder">GET /orders/{id}</a>.</p>
<h2 id="client-frames">Frames of the client</h2>
<p>Send <code>connect</code> first, within ${liveLimits.connectWithinSeconds} seconds, and again with a new token before the old one expires. Without a
token, public channels only.</p>
${Object.keys(clientFrames).map(frame)}
<h2 id="server-frames">Frames of the server</h2>
${Object.keys(serverFrames).map(frame)}
<h2 id="events">Events</h2>
<p>An event is an <a href="#frame-event"><code>event</code></a> frame. Its <code>data</code> depends on its type.</p>
${eventsView(reference)}
<h2 id="close-codes">Close codes</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th>code</th><th>what to do</th></tr></thead><tbody>
${Object.entries({ lost: 1006, ...asyncApi["x-close-codes"] })
  .toSorted(([, one], [, other]) => one - other)
  .map(([name, code]) => html`<tr><td>${code}</td><td>${whatToDo[name]}</td></tr>`)}
</tbody></table></div>
<p>Backoff: wait a random time between zero and a limit, which starts at 0.5 seconds and doubles up to 30 seconds.</p>
<h2 id="limits">Limits</h2>
<ul><li>${liveLimits.subscriptions} subscriptions per socket, and frames of at most ${liveLimits.frameBytes / 1024} KB.</li>
<li>A burst of ${liveLimits.burstFrames} frames, then ${liveLimits.framesPerSecond} per second.</li>
<li>${liveLimits.lookupIds} ids per <code>lookup</code>.</li></ul>
${operationsOf(reference)
  .filter(({ operation }) => operation.tags[0] === liveGroup)
  .map((listed) => operationView(reference, listed))}`
}

import { liveEvents } from "../../schema/live-events.ts"
import { type Html, html } from "../web/html.ts"
import { resolve, type Shape, type Shapes } from "./document.ts"
import { readExamples } from "./examples.ts"
import { codeBlock, prose } from "./layout.ts"
import type { Reference } from "./reference.ts"
import { membersView, shapeView } from "./shapes.ts"

/** Shows the data of an event. A choice of several forms is shown as these forms one after the other. */
const dataView = (given: Shape, shapes: Shapes): Html => {
  const shape = resolve(given, shapes)
  return html`${shape.anyOf === undefined ? membersView(shape) : html`<p>${shapeView(shape)}</p>`}`
}

const eventView = ({ asyncApi }: Reference, type: keyof typeof liveEvents): Html => {
  const { channels, summary } = liveEvents[type]
  const shapes = asyncApi.components.schemas as Shapes
  const { payload } = asyncApi.components.messages[type] as { readonly payload: Shape }
  const example = readExamples().events[type]
  return html`<section class="operation event" id="event-${type}"><h3><code>${type}</code></h3>
<p>${prose(summary)} <span class="soft">In ${channels.map((channel, i) => html`${i > 0 && " and "}<code>${channel}</code>`)}.</span></p>
${example && codeBlock(JSON.stringify({ type: "event", event: type, ...example }, null, 2), "Example")}
<details class="members"><summary>Members of <code>data</code></summary>${dataView(payload.properties?.["data"] ?? {}, shapes)}</details></section>`
}

export const eventsView = (reference: Reference): Html =>
  html`${Object.keys(liveEvents).map((type) => eventView(reference, type as keyof typeof liveEvents))}`

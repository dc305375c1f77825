import type { AdminFigures, DaySales } from "../../../client/api-types.ts"
import { actionButton } from "../parts/actions.ts"
import { barChart } from "../parts/chart.ts"
import { type Child, fill, h } from "../parts/dom.ts"
import { counted, dollars, when } from "../parts/format.ts"
import { coalesced } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { explain } from "../platform/http.ts"

const refreshMs = 30_000
/** Mail that waits longer than this is not being delivered. */
const lateMailSeconds = 300

const whole = new Intl.NumberFormat("en-US")
const dayName = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })

const figure = (label: string, value: string, ...more: ReadonlyArray<Child>) =>
  h("div", { class: "figure" }, h("dt", {}, label), h("dd", {}, h("strong", {}, value), more))

const note = (text: string, kind = "soft") => h("span", { class: `small ${kind}` }, text)

const link = (href: string, text: string) => h("a", { class: "small", href }, text)

const sum = (days: ReadonlyArray<DaySales>, of: (day: DaySales) => number): number =>
  days.reduce((total, day) => total + of(day), 0)

const salesOf = (label: string, days: ReadonlyArray<DaySales>) => {
  const refunds = sum(days, (day) => day.refunds_in_cents)
  return figure(
    label,
    dollars(sum(days, (day) => day.sales_in_cents)),
    note(
      counted(
        sum(days, (day) => day.orders),
        "order",
      ),
    ),
    refunds > 0 && note(`${dollars(refunds)} refunded`),
  )
}

const waitingMail = ({ oldest_mail_seconds: seconds, waiting_mail: waiting }: AdminFigures) => {
  const minutes = Math.ceil(seconds / 60)
  return figure(
    "Waiting mail",
    whole.format(waiting),
    waiting === 0
      ? note("Everything was sent")
      : seconds > lateMailSeconds
        ? note(`Oldest for ${counted(minutes, "minute")}. Check the mail server.`, "bad")
        : note(`Oldest for ${counted(minutes, "minute")}`),
  )
}

const drawFigures = (figures: AdminFigures) => {
  const { days, live_sockets: sockets, open_holds, registered_ids, registered_ids_is_estimate } = figures
  return [
    h("h2", {}, "Sales"),
    h(
      "dl",
      { class: "figures" },
      salesOf("Today", days.slice(-1)),
      salesOf("Last 7 days", days.slice(-7)),
      salesOf("Last 30 days", days),
    ),
    h("h2", {}, "Now"),
    h(
      "dl",
      { class: "figures" },
      figure(
        "Registered ids",
        whole.format(registered_ids),
        registered_ids_is_estimate ? note("Estimate") : false,
      ),
      figure(
        "Open holds",
        whole.format(open_holds),
        note("Orders that wait for payment"),
        link("#/admin/orders", "Show orders"),
      ),
      waitingMail(figures),
      figure(
        "Live connections",
        sockets === undefined ? "Unknown" : whole.format(sockets),
        note(sockets === undefined ? "The server did not answer" : "Open pages and apps on this server"),
      ),
    ),
  ]
}

const drawCharts = ({ days }: AdminFigures) => {
  const bars = (of: (day: DaySales) => number) =>
    days.map((day) => ({ label: dayName.format(new Date(day.day)), value: of(day) }))
  return h(
    "div",
    { class: "charts" },
    barChart({
      title: "Sales per day",
      summary: `${dollars(sum(days, (day) => day.sales_in_cents))} in 30 days`,
      bars: bars((day) => day.sales_in_cents),
      show: dollars,
      headings: ["Day (UTC)", "Sales"],
    }),
    barChart({
      title: "Paid orders per day",
      summary: `${counted(
        sum(days, (day) => day.orders),
        "order",
      )} in 30 days`,
      bars: bars((day) => day.orders),
      show: (value) => counted(value, "order"),
      headings: ["Day (UTC)", "Orders"],
    }),
  )
}

/** Draws the key figures. They are read again every half minute. An open table below a chart stays open. */
export const drawOverview: Section["draw"] = async (place, lifetime) => {
  const figures = h("div", {})
  const charts = h("div", {})
  const status = h("p", { class: "soft small" })
  let shownDays = ""
  const load = async (): Promise<void> => {
    const read = await call("GET /admin/figures")
    fill(figures, drawFigures(read))
    const days = JSON.stringify(read.days)
    if (days !== shownDays) fill(charts, drawCharts(read))
    shownDays = days
    fill(status, `As of ${when(new Date().toISOString())}. Days begin at midnight UTC.`)
  }
  const refresh = coalesced(async () => {
    if (document.hidden || lifetime.hasEnded) return
    try {
      await load()
    } catch (error) {
      fill(
        status,
        h("span", { class: "bad" }, `These figures may be outdated. ${explain(error)}`),
        " ",
        actionButton("Try again", load, { class: "plain small" }),
      )
    }
  })
  fill(place, figures, charts, status)
  await load()
  const timer = setInterval(refresh, refreshMs)
  lifetime.onEnd(() => clearInterval(timer))
}

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { prometheusProgram, promtool } from "../fixtures/servers/prometheus.ts"

const root = join(import.meta.dirname, "../..")
const rules = readFileSync(join(root, "deploy/alerts.yaml"), "utf8")
const ruleTests = readFileSync(join(root, "deploy/alerts.test.yaml"), "utf8")
const alerts = rules
  .split("- alert: ")
  .slice(1)
  .map((text) => ({ name: /^\w+/.exec(text)?.[0] ?? "", text }))
/** The anchors of the headings of docs/operating.md. */
const anchors = [...readFileSync(join(root, "docs/operating.md"), "utf8").matchAll(/^#+ (.+)$/gm)].map(
  ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
)

describe("deploy/alerts.yaml", () => {
  it.skipIf(prometheusProgram === undefined)(
    "is accepted by promtool, and every rule test passes (needs the package prometheus)",
    () => {
      expect(promtool(["check", "rules", join(root, "deploy/alerts.yaml")])).toContain(
        `SUCCESS: ${alerts.length} rules found`,
      )
      expect(promtool(["test", "rules", join(root, "deploy/alerts.test.yaml")])).toContain("SUCCESS")
    },
  )

  it.each(alerts)("tells the operator what to do about $name, and has a test of it", ({ name, text }) => {
    expect(text).toMatch(/severity: (page|ticket)/)
    expect(text).toMatch(/runbook: ".{40,}"/)
    const [, anchor] = /runbook_url: docs\/operating\.md#(\S+)/.exec(text) ?? []
    expect(anchors).toContain(anchor)
    expect(ruleTests.split(`alertname: ${name}`)).toHaveLength(3)
  })
})

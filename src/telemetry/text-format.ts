import type { Family, Values } from "./registry.ts"

const escapeHelp = (help: string): string => help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const line = (name: string, labels: string, value: number): string =>
  labels === "" ? `${name} ${value}` : `${name}{${labels}} ${value}`

const withBound = (labels: string, bound: string): string =>
  labels === "" ? `le="${bound}"` : `${labels},le="${bound}"`

const histogramLines = (
  name: string,
  labels: string,
  bounds: ReadonlyArray<number>,
  values: Values,
): ReadonlyArray<string> => {
  let count = 0
  const buckets = bounds.map((bound, i) => {
    count += values[i] ?? 0
    return line(`${name}_bucket`, withBound(labels, String(bound)), count)
  })
  const all = count + (values[bounds.length] ?? 0)
  return [
    ...buckets,
    line(`${name}_bucket`, withBound(labels, "+Inf"), all),
    line(`${name}_sum`, labels, values[bounds.length + 1] ?? 0),
    line(`${name}_count`, labels, all),
  ]
}

/** Writes metrics in the text format of Prometheus. A metric without series is left out. */
export const toText = (families: ReadonlyArray<Family>): string =>
  families
    .filter(({ series }) => Object.keys(series).length > 0)
    .flatMap(({ bounds, help, name, series, type }) => [
      `# HELP ${name} ${escapeHelp(help)}`,
      `# TYPE ${name} ${type}`,
      ...Object.entries(series).flatMap(([labels, values]) =>
        bounds === undefined
          ? line(name, labels, values[0] ?? 0)
          : histogramLines(name, labels, bounds, values),
      ),
      "",
    ])
    .join("\n")

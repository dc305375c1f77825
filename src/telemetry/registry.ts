/** Label values by name. */
export type Labels = Readonly<Record<string, string>>

/**
 * How the values of several workers become one scrape:
 * - `sum`: they are added. Histograms and most counters and gauges.
 * - `max`: the largest is kept.
 * - `each`: every worker has its own series, with the label `worker`. For what belongs to one process, such as memory.
 * - `database`: the value is read from the database, so it is the same for all. Only one worker reads it.
 */
export type Across = "sum" | "max" | "each" | "database"

export interface MetricOptions {
  readonly labels?: Labels
  /** `sum` if it is not set. */
  readonly across?: Across
}

/** The values of a series. A counter or a gauge has one. A histogram has one per bucket, one for larger values, and the sum. */
export type Values = ReadonlyArray<number>

/** A metric with its series, as plain data that processes can send to each other. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly across: Across
  /** The upper bounds of the buckets of a histogram. */
  readonly bounds?: ReadonlyArray<number>
  /** The series by their labels, in the form of the text format: `method="GET",status="200"`. */
  readonly series: Readonly<Record<string, Values>>
}

/** Returns the current value, or undefined if it is not known. Then the series is left out. */
export type Reading = () => number | undefined

export class Counter {
  value = 0
  add(count = 1): void {
    this.value += count
  }
}

export class Histogram {
  readonly #bounds: ReadonlyArray<number>
  readonly #counts: Array<number>
  #sum = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++
    this.#counts[bucket]!++
    this.#sum += value
  }

  get values(): Values {
    return [...this.#counts, this.#sum]
  }
}

/** Buckets for durations that are usually short: a statement, a wait for a connection, a request. */
export const durationBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

const escapeLabel = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")

export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",")

interface OwnSeries<Instrument> {
  readonly instrument: Instrument
  readonly read: () => Values | undefined
}

interface OwnFamily extends Omit<Family, "series"> {
  readonly series: Map<string, OwnSeries<unknown>>
}

/** The metrics of one process. A metric that is asked for again, with the same labels, is the same object. */
export class Registry {
  readonly #families = new Map<string, OwnFamily>()
  readonly #collectors: Array<() => void> = []

  counter(name: string, help: string, options: MetricOptions = {}): Counter {
    return this.#series({ name, help, type: "counter" }, options, () => {
      const instrument = new Counter()
      return { instrument, read: () => [instrument.value] }
    })
  }

  /** Registers a counter whose value is counted elsewhere. It must never become smaller. */
  counted(name: string, help: string, read: Reading, options: MetricOptions = {}): void {
    this.#replaced({ name, help, type: "counter" }, options, read)
  }

  /** Registers a gauge that is read at each scrape. */
  gauge(name: string, help: string, read: Reading, options: MetricOptions = {}): void {
    this.#replaced({ name, help, type: "gauge" }, options, read)
  }

  histogram(
    name: string,
    help: string,
    bounds: ReadonlyArray<number>,
    options: MetricOptions = {},
  ): Histogram {
    return this.#series({ name, help, type: "histogram", bounds }, options, () => {
      const instrument = new Histogram(bounds)
      return { instrument, read: () => instrument.values }
    })
  }

  /** Registers a function that runs before the values are read. */
  onCollect(run: () => void): void {
    this.#collectors.push(run)
  }

  /** Returns the current values. Those of the database are left out unless `withDatabase`. */
  collect(withDatabase: boolean): ReadonlyArray<Family> {
    for (const run of this.#collectors) run()
    return [...this.#families.values()]
      .filter(({ across }) => withDatabase || across !== "database")
      .map(({ series, ...family }) => ({ ...family, series: readSeries(series) }))
  }

  #family(facts: Omit<Family, "series" | "across">, { across = "sum" }: MetricOptions): OwnFamily {
    const known = this.#families.get(facts.name)
    if (known !== undefined) return known
    const made = { ...facts, across, series: new Map() }
    this.#families.set(facts.name, made)
    return made
  }

  #series<Instrument>(
    facts: Omit<Family, "series" | "across">,
    options: MetricOptions,
    make: () => OwnSeries<Instrument>,
  ): Instrument {
    const { series } = this.#family(facts, options)
    const labels = labelText(options.labels ?? {})
    const known = series.get(labels) ?? make()
    series.set(labels, known)
    return known.instrument as Instrument
  }

  #replaced(facts: Omit<Family, "series" | "across">, options: MetricOptions, read: Reading): void {
    this.#family(facts, options).series.set(labelText(options.labels ?? {}), {
      instrument: undefined,
      read: () => {
        const value = read()
        return value === undefined ? undefined : [value]
      },
    })
  }
}

const readSeries = (series: OwnFamily["series"]): Record<string, Values> => {
  const values: Record<string, Values> = {}
  for (const [labels, { read }] of series) {
    const found = read()
    // Processes exchange the values as JSON, which has no infinite numbers.
    if (found?.every(Number.isFinite)) values[labels] = found
  }
  return values
}

/** A response that needs more than a JSON value: another status, headers, or a body that is not JSON. */
export class Reply<A> {
  readonly value: A | undefined
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly raw: string | Uint8Array | undefined

  private constructor(facts: {
    readonly value?: A
    readonly status?: number
    readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
    readonly raw?: string | Uint8Array
  }) {
    this.value = facts.value
    this.status = facts.status
    this.headers = facts.headers ?? {}
    this.raw = facts.raw
  }

  static json<A>(
    value: A,
    facts: { status?: number; headers?: Record<string, string | ReadonlyArray<string>> } = {},
  ) {
    return new Reply<A>({ value, ...facts })
  }

  /** A response whose body is sent unchanged. The caller must set the Content-Type in the headers. */
  static raw(
    raw: string | Uint8Array,
    headers: Record<string, string | ReadonlyArray<string>>,
    status = 200,
  ): Reply<never> {
    return new Reply<never>({ raw, headers, status })
  }

  static redirect(
    location: string,
    headers: Record<string, string | ReadonlyArray<string>> = {},
    status = 302,
  ) {
    return new Reply<never>({ raw: "", status, headers: { ...headers, Location: location } })
  }

  static empty(status: number, headers: Record<string, string | ReadonlyArray<string>> = {}): Reply<never> {
    return new Reply<never>({ raw: "", status, headers })
  }
}

/** No complete response: the service cannot be reached, or the response was cut off or took too long. */
export class NetworkError extends Error {
  override readonly name = "NetworkError"

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "No response", { cause })
  }
}

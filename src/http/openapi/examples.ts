/** An example call of an operation: the body that was sent, and the body of the response. */
export interface OperationExample {
  readonly body?: unknown
  readonly response?: unknown
}

export interface Examples {
  readonly operations: Readonly<Record<string, OperationExample>>
  /** The responses of errors, by their code. */
  readonly errors: Readonly<Record<string, OperationExample>>
}
export const noExamples: Examples = { operations: {}, errors: {} }

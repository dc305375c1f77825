/** An expected failure that is reported in one line. Any other error is a bug and is printed with its stack. */
export class BenchFailure extends Error {}

export class UsageError extends BenchFailure {}

/** An expected failure that is reported in one line. Any other error is a bug and is printed with its stack. */
export class BenchFailure extends Error {}

/** The measured server gave an answer that its guarantees exclude. Its figures are not valid. */
export class WrongAnswer extends BenchFailure {}

export class UsageError extends BenchFailure {}

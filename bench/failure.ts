/** Something outside went wrong and can be told in one line; any other error is a defect and shows its stack. */
export class BenchFailure extends Error {}

export class UsageError extends BenchFailure {}

/**
 * A broadcast to all processes of the service, including the sender. All receive the same messages in the same order. A
 * process misses messages only while its connection is lost. `onUp` reports that it listens again.
 */
export interface Transport {
  readonly maxBytes: number
  /** Resolves when all connected processes will receive the payload. After a rejection the outcome is unknown. */
  publish(payload: string): Promise<void>
  open(handlers: TransportHandlers): Promise<{ close(): Promise<void> }>
}

export interface TransportHandlers {
  onMessage(payload: string): void
  /** Called when the process listens: the first time, and again after messages may have been missed. */
  onUp(): void
}

/**
 * A broadcast between the processes of the service, the sender included. Every open end hears the same messages in the
 * same order, and loses some only when its connection was lost, which `onUp` reports after it listens again.
 */
export interface Transport {
  readonly maxBytes: number
  /** Fulfilled once every listening end is bound to hear the payload. After a rejection it may have been sent or not. */
  publish(payload: string): Promise<void>
  open(handlers: TransportHandlers): Promise<{ close(): Promise<void> }>
}

export interface TransportHandlers {
  onMessage(payload: string): void
  /** Listening: for the first time, or again after messages may have been missed. */
  onUp(): void
}

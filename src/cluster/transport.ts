/** A message: to one process, or to all, including the sender. */
export interface Sent {
  readonly to?: string
  readonly payload: string
}

/**
 * Carries messages between the processes of the service. A process misses messages while its connection is lost. `onUp`
 * reports that it listens again.
 */
export interface Transport {
  readonly maxBytes: number
  /** Resolves when all connected receivers will receive the messages. After a rejection the outcome is unknown. */
  publish(messages: ReadonlyArray<Sent>): Promise<void>
  /** Receives the messages to all processes, and those to the process `own` if it is given. */
  open(own: string | undefined, handlers: TransportHandlers): Promise<{ close(): Promise<void> }>
}

export interface TransportHandlers {
  onMessage(payload: string): void
  /** Called when the process listens: the first time, and again after messages may have been missed. */
  onUp(): void
}

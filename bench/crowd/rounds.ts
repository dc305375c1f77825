export interface Delivered {
  readonly round: number
  /** True if all sockets of the round's channel have now received the frame. */
  readonly isLast: boolean
}

/**
 * Finds the round of a delivery without parsing the frame. Frames of a channel arrive in order on each socket. So
 * frame n on a socket of channel c, counted from 0, belongs to round n * channels + c.
 */
export class Rounds {
  readonly #channels: number
  readonly #received: Uint32Array
  readonly #awaited = new Map<number, number>()
  #begun = 0

  constructor(sockets: number, channels: number) {
    if (channels < 1 || channels > sockets)
      throw new RangeError(`${channels} channels for ${sockets} sockets`)
    this.#channels = channels
    this.#received = new Uint32Array(sockets)
  }

  begin(): number {
    const round = this.#begun++
    this.#awaited.set(round, this.#audience(round % this.#channels))
    return round
  }

  /** Counts a frame that a socket has received. Returns undefined if the frame belongs to no open round. */
  deliver(socket: number): Delivered | undefined {
    const round = this.#received[socket]! * this.#channels + (socket % this.#channels)
    if (round >= this.#begun) return undefined
    this.#received[socket]! += 1
    const awaited = this.#awaited.get(round)
    if (awaited === undefined) return undefined
    if (awaited === 1) this.#awaited.delete(round)
    else this.#awaited.set(round, awaited - 1)
    return { round, isLast: awaited === 1 }
  }

  /**
   * Discards all open rounds and treats every socket as up to date. This is needed after a lost frame, because the
   * count of the socket that did not receive the frame is then wrong.
   */
  resync(): void {
    this.#awaited.clear()
    for (let socket = 0; socket < this.#received.length; socket++) {
      const channel = socket % this.#channels
      this.#received[socket] = Math.ceil((this.#begun - channel) / this.#channels)
    }
  }

  #audience(channel: number): number {
    return Math.ceil((this.#received.length - channel) / this.#channels)
  }
}

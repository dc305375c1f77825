/**
 * The message that wakes the subscribers of a channel: the name of the channel, and its newest offset if the sender
 * knows it.
 */
export interface Wake {
  readonly name: string
  readonly offset: number
}

export const encodeWake = ({
  channel,
  offset,
}: {
  readonly channel: string
  readonly offset: number
}): string => `${offset} ${channel}`

const withOffset = /^(\d+) (.*)$/s

export const decodeWake = (text: string): Wake => {
  const [, offset, name] = withOffset.exec(text) ?? []
  return name === undefined
    ? { name: text, offset: Number.POSITIVE_INFINITY }
    : { name, offset: Number(offset) }
}

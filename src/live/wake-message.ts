/** What the processes tell each other of a channel: its name, and how far it has come where the teller knows. */
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

const barCells = 20

export interface Progress {
  readonly step: (text: string) => void
  readonly end: () => void
}

/** Shows the progress: one updated line on a terminal, or one line per step in a log. */
export function startProgress(stream: NodeJS.WriteStream, totalSeconds: number): Progress {
  const startedAtMs = performance.now()
  let text = ""
  const line = () => {
    const elapsed = (performance.now() - startedAtMs) / 1000
    const share = Math.min(0.99, elapsed / totalSeconds)
    const filled = Math.round(share * barCells)
    const bar = "█".repeat(filled) + "░".repeat(barCells - filled)
    return `${bar} ${clock(elapsed)} of about ${clock(Math.max(totalSeconds, elapsed))}  ${text}`
  }
  const redraw = () => {
    stream.write(`\r\x1b[2K${line().slice(0, Math.max(20, stream.columns - 1))}`)
  }
  const timer = stream.isTTY ? setInterval(redraw, 250) : undefined
  return {
    step: (next) => {
      text = next
      if (stream.isTTY) redraw()
      else stream.write(`${clock((performance.now() - startedAtMs) / 1000)}  ${next}\n`)
    },
    end: () => {
      clearInterval(timer)
      if (stream.isTTY) stream.write("\r\x1b[2K")
    },
  }
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

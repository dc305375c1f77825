const pauseMs = 2000

/** Receives lines for the operator. The command line writes them to standard error. */
export type Note = (line: string) => void

export const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`

/** Reports the progress of a copy at most every two seconds. */
export const copyProgress = (note: Note, what: string, total?: number) => {
  let done = 0
  let shownAt = performance.now()
  return (bytes: number): void => {
    done += bytes
    if (performance.now() - shownAt < pauseMs) return
    shownAt = performance.now()
    const of = total === undefined ? "" : ` of about ${inMegabytes(Math.max(done, total))}`
    note(`${what}: ${inMegabytes(done)}${of}`)
  }
}

/** Names the place in the error of a full disk, which the system does not. Other errors are returned as they are. */
export const namingPlace = (error: unknown, place: string): unknown => {
  const { code } = error as NodeJS.ErrnoException
  const isFull = code === "ENOSPC" || code === "EDQUOT"
  return isFull
    ? new Error(`The disk of ${place} is full. Nothing was kept: make space, and run the command again.`, {
        cause: error,
      })
    : error
}

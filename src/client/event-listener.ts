/**
 * Calls a listener of the application. What it throws goes where nobody catches it, to be reported as the application's,
 * and keeps neither the others from being told nor the client from going on.
 */
export const tell = (listener: () => void): void => {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

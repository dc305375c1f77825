/**
 * Calls a listener of the application. If it throws, the error is reported as uncaught, and the client and the other
 * listeners continue.
 */
export const callListener = (listener: () => void): void => {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

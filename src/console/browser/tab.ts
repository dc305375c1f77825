/**
 * Stores values that survive a reload of this tab. If the browser denies sessionStorage, or if it is full, the values
 * are stored only in memory and are lost on reload.
 */

const inMemory = new Map<string, string>()

export const recall = (name: string): string | undefined => {
  try {
    return sessionStorage.getItem(name) ?? inMemory.get(name)
  } catch {
    return inMemory.get(name)
  }
}

export const remember = (name: string, value: string): void => {
  inMemory.set(name, value)
  try {
    sessionStorage.setItem(name, value)
  } catch {}
}

export const forget = (name: string): void => {
  inMemory.delete(name)
  try {
    sessionStorage.removeItem(name)
  } catch {}
}

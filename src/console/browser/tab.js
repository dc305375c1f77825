/**
 * Stores values that survive a reload of this tab. If the browser denies sessionStorage, or if it is full, the values
 * are stored only in memory and are lost on reload.
 */

/** @type {Map<string, string>} */
const inMemory = new Map()

/** @param {string} name */
export const recall = (name) => {
  try {
    return sessionStorage.getItem(name) ?? inMemory.get(name)
  } catch {
    return inMemory.get(name)
  }
}

/** @param {string} name @param {string} value */
export const remember = (name, value) => {
  inMemory.set(name, value)
  try {
    sessionStorage.setItem(name, value)
  } catch {}
}

/** @param {string} name */
export const forget = (name) => {
  inMemory.delete(name)
  try {
    sessionStorage.removeItem(name)
  } catch {}
}

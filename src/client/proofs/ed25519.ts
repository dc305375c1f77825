/** Undefined until it is known whether this runtime has Ed25519. */
let isNative: boolean | undefined

const verifyNatively = async (
  key: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  const imported = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"])
  return crypto.subtle.verify("Ed25519", imported, signature, message)
}

const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && error.name === "NotSupportedError"

/**
 * Verifies an Ed25519 signature with the functions of the runtime. Chromium has them since 137, Firefox since 129, Safari since 17
 * and Node since 20. Other runtimes load a library, which is a separate file of the package and larger than the rest of
 * the verifier.
 */
export const verifyEd25519 = async (
  key: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  if (key.length !== 32 || signature.length !== 64) return false
  if (isNative !== false) {
    try {
      const isValid = await verifyNatively(key, message, signature)
      isNative = true
      return isValid
    } catch (error) {
      // A key that is not a point of the curve is refused with another error.
      if (!isUnsupported(error)) return false
      isNative = false
    }
  }
  const { ed25519 } = await import("@noble/curves/ed25519.js")
  return ed25519.verify(signature, message, key, { zip215: false })
}

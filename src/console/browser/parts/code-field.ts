import { field, firstInput } from "./dom.ts"

/**
 * A field for a code with six digits. Phones show a keypad and offer the code of a received message. Spaces and dashes
 * of a pasted code are removed.
 */
export const codeField = (label: string, describedBy?: string) => {
  const whole = field(label, {
    name: "code",
    class: "code",
    inputmode: "numeric",
    autocomplete: "one-time-code",
    maxlength: "64",
    required: true,
    "aria-describedby": describedBy,
  })
  const input = firstInput(whole)
  input.addEventListener("input", () => {
    const bare = input.value.replaceAll(/[\s-]/g, "")
    if (bare !== input.value) input.value = bare
  })
  return whole
}

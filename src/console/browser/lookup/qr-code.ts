import { encodeQR } from "qr"

const quietModules = 4
const svgSpace = "http://www.w3.org/2000/svg"

/** Draws a text as a QR code: dark squares on white, with the margin that scanners need. */
export const qrCode = (text: string, label: string): Element => {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: quietModules })
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  const path = document.createElementNS(svgSpace, "path")
  path.setAttribute("d", squares.join(""))
  const svg = document.createElementNS(svgSpace, "svg")
  svg.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`)
  svg.setAttribute("class", "qr qr-code")
  svg.setAttribute("role", "img")
  svg.setAttribute("aria-label", label)
  svg.setAttribute("shape-rendering", "crispEdges")
  svg.append(path)
  return svg
}

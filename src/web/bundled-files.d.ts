/** Style sheets, which esbuild bundles beside the script that imports them. */
declare module "*.css"

/** Icons, which esbuild bundles as text. */
declare module "*.svg" {
  const text: string
  export = text
}

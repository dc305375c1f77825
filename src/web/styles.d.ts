/** Style sheets, which esbuild bundles beside the script that imports them. */
declare module "*.css"

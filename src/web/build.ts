import { writeBundles } from "./bundles.ts"

await writeBundles()

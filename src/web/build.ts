import { writeBundles } from "./bundles.ts"

writeBundles()

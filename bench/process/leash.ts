// Preloaded into every child with --import: a child of the bench ends with its parent, even when the parent was
// killed too hard to say goodbye, and never outlives the longest run.
const lifetimeSeconds = 3600
const graceSeconds = 10

process.on("disconnect", () => {
  process.kill(process.pid, "SIGTERM")
  setTimeout(() => process.kill(process.pid, "SIGKILL"), graceSeconds * 1000).unref()
})
process.channel?.unref()

setTimeout(() => process.kill(process.pid, "SIGKILL"), lifetimeSeconds * 1000).unref()

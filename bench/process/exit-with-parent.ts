// Preloaded into every child with --import. The child exits when its parent exits, also after SIGKILL of the parent,
// and at the latest after one hour.
const lifetimeSeconds = 3600
const graceSeconds = 10

process.on("disconnect", () => {
  process.kill(process.pid, "SIGTERM")
  setTimeout(() => process.kill(process.pid, "SIGKILL"), graceSeconds * 1000).unref()
})
process.channel?.unref()

setTimeout(() => process.kill(process.pid, "SIGKILL"), lifetimeSeconds * 1000).unref()

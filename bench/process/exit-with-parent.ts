// This file is preloaded into every child with --import. It ends the child when the parent exits, even if the parent
// was killed with SIGKILL, and after one hour at the latest.
const lifetimeSeconds = 3600
const graceSeconds = 10

process.on("disconnect", () => {
  process.kill(process.pid, "SIGTERM")
  setTimeout(() => process.kill(process.pid, "SIGKILL"), graceSeconds * 1000).unref()
})
process.channel?.unref()

setTimeout(() => process.kill(process.pid, "SIGKILL"), lifetimeSeconds * 1000).unref()

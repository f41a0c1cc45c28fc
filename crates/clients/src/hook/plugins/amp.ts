export const description = "Delivers a project's guidance: asks brief at each prompt and tool call"

// Before these, a check may refuse the call.
const CHANGES = new Set(["edit_file", "create_file", "apply_patch", "Bash"])

export default function (amp) {
  const tell = (event, name, more) => ask({ cwd: process.cwd(), session_id: event.thread.id, event: name, ...more })

  amp.on("agent.start", async (event) => {
    const { text } = await tell(event, "prompt", { prompt: event.message })
    return text ? { message: { content: text } } : {}
  })

  amp.on("tool.call", async (event) => {
    if (HOLDS || CHANGES.has(event.tool)) {
      const { hold } = await tell(event, "before", { tool_name: event.tool, tool_input: event.input })
      if (hold) return { action: "reject-and-continue", message: hold }
    }
    return { action: "allow" }
  })

  amp.on("tool.result", async (event) => {
    if (event.status !== "done" || typeof event.output !== "string") return
    const { text } = await tell(event, "after", { tool_name: event.tool, tool_input: event.input })
    if (text) return { status: "done", output: event.output + "\n\n" + text }
  })
}

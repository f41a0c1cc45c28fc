// Before these, a check may refuse the call, and the hook notes what is in a file, so that a receipt can say what has changed.
const CHANGES = new Set(["edit", "multiedit", "write", "apply_patch", "patch", "bash"])

export const Brief = async ({ directory, client }) => {
  const starts = new Map()
  const tell = (event, session, more) => ask({ cwd: directory, event, session_id: session, ...more })
  return {
    "tool.execute.before": async (input, output) => {
      if (!HOLDS && !CHANGES.has(input.tool)) return
      const call = { tool_name: input.tool, tool_input: output.args, call_id: input.callID }
      const { hold } = await tell("before", input.sessionID, call)
      if (hold) throw new Error(hold)
    },
    "tool.execute.after": async (input, output) => {
      const result = { tool_response: output.metadata, call_id: input.callID }
      const call = { tool_name: input.tool, tool_input: input.args, ...result }
      const { text } = await tell("after", input.sessionID, call)
      if (text) output.output += "\n\n" + text
    },
    // What a prompt names comes with it, in a part of its own that the user does not see.
    "chat.message": async (input, output) => {
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const last = said.at(-1)
      if (!last) return
      const { text } = await tell("prompt", input.sessionID, { prompt: said.map((part) => part.text).join("\n") })
      if (text) output.parts.push({ ...last, id: last.id + "0", text, synthetic: true })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      // Kilo asks for the title of a session in a session of its own, which nobody reads.
      if (!session || session.startsWith("title-")) return
      // The system prompt is made anew for each request.
      if (!starts.has(session)) starts.set(session, tell("start", session, { source: "request" }))
      const { text } = await starts.get(session)
      if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.idle" && session) {
        const { stop } = await tell("stop", session)
        // The event ends before the prompt does: the turn that it starts is idle again.
        if (stop) client.session.prompt({ path: { id: session }, body: { parts: [{ type: "text", text: stop }] } }).catch(() => {})
        return
      }
      if (event.type !== "session.compacted" || !session) return
      await tell("compacted", session)
      starts.delete(session)
    },
  }
}

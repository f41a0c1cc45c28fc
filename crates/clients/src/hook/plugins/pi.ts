export default function (pi) {
  const waiting = new Map()
  const tell = (context, event, more) => {
    const session = context?.sessionManager?.getSessionId?.()
    return ask({ source: "pi", cwd: context?.cwd ?? process.cwd(), session_id: session, event, ...more })
  }

  pi.on("before_agent_start", async (event, context) => {
    const { additionalContext } = await tell(context, "prompt", { prompt: event.prompt })
    if (!additionalContext) return
    return { message: { customType: "brief", content: additionalContext, display: false } }
  })

  pi.on("session_compact", async (_event, context) => {
    await tell(context, "compacted")
  })

  pi.on("tool_call", async (event, context) => {
    const call = { tool_name: event.toolName, tool_input: event.input, call_id: event.toolCallId }
    const { hold, ask, additionalContext } = await tell(context, "tool_call", call)
    if (hold) return { block: true, reason: hold }
    // Without a person, nobody agrees.
    if (ask && !(context.hasUI && (await context.ui.confirm("brief", ask)))) return { block: true, reason: ask }
    if (additionalContext) waiting.set(event.toolCallId, additionalContext)
  })

  pi.on("tool_result", async (event, context) => {
    const before = waiting.get(event.toolCallId)
    waiting.delete(event.toolCallId)
    const call = { tool_name: event.toolName, tool_input: event.input, call_id: event.toolCallId }
    const { additionalContext } = await tell(context, "tool_result", call)
    const text = [before, additionalContext].filter(Boolean).join("\n\n")
    if (!text) return
    return { content: [...(event.content ?? []), { type: "text", text }] }
  })

  pi.on("agent_end", async (_event, context) => {
    const { stop } = await tell(context, "stop")
    if (stop) pi.sendUserMessage(stop, { deliverAs: "followUp" })
  })
}

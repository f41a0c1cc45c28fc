// Written by `brief hook install`; `brief hook uninstall` removes it.
// It asks the command below at each tool call and shows the answer. All decisions are made there; a command that fails
// or is slow changes nothing.
import { spawn } from "node:child_process"

const COMMAND = {command}
const HOLDS = {holds}
const TIMEOUT = 2000

function ask(cwd, payload) {
  return new Promise((resolve) => {
    let output = ""
    const child = spawn(COMMAND, { cwd, shell: true, stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT })
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => (output += chunk))
    child.on("close", () => {
      try {
        resolve(JSON.parse(output))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify({ cwd, ...payload }))
  })
}

export const Brief = async ({ directory }) => {
  const starts = new Map()
  return {
    "tool.execute.before": async (input, output) => {
      if (!HOLDS) return
      const call = { event: "before", session_id: input.sessionID, tool_name: input.tool, tool_input: output.args }
      const { hold } = await ask(directory, call)
      if (hold) throw new Error(hold)
    },
    "tool.execute.after": async (input, output) => {
      const call = { event: "after", session_id: input.sessionID, tool_name: input.tool, tool_input: input.args }
      const { text } = await ask(directory, { ...call, tool_response: output.metadata })
      if (text) output.output += "\n\n" + text
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session) return
      // The system prompt is made anew for each request.
      if (!starts.has(session)) {
        starts.set(session, ask(directory, { event: "start", session_id: session, source: "request" }))
      }
      const { text } = await starts.get(session)
      if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type !== "session.compacted" || !session) return
      await ask(directory, { event: "compacted", session_id: session })
      starts.delete(session)
    },
  }
}

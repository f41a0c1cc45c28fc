// Written by `brief hook install`; `brief hook uninstall` removes it.
// It asks the command below at each prompt and tool call and shows the answer. All decisions are made there; a command
// that fails or is slow changes nothing.
import { spawn } from "node:child_process"

export const description = "Delivers a project's guidance: asks brief at each prompt and tool call"

const COMMAND = {command}
const HOLDS = {holds}
const TIMEOUT = 2000

function ask(thread: { id: string }, payload: object): Promise<{ text?: string; hold?: string }> {
  const cwd = process.cwd()
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
    child.stdin.end(JSON.stringify({ cwd, session_id: thread.id, ...payload }))
  })
}

export default function (amp: any) {
  amp.on("agent.start", async (event: any) => {
    const { text } = await ask(event.thread, { event: "prompt", prompt: event.message })
    if (text) return { message: { content: text } }
    return {}
  })

  amp.on("tool.call", async (event: any) => {
    if (HOLDS) {
      const call = { event: "before", tool_name: event.tool, tool_input: event.input }
      const { hold } = await ask(event.thread, call)
      if (hold) return { action: "reject-and-continue", message: hold }
    }
    return { action: "allow" }
  })

  amp.on("tool.result", async (event: any) => {
    if (event.status !== "done" || typeof event.output !== "string") return
    const call = { event: "after", tool_name: event.tool, tool_input: event.input }
    const { text } = await ask(event.thread, call)
    if (text) return { status: "done", output: event.output + "\n\n" + text }
  })
}

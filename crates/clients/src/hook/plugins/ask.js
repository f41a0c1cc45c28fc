// Written by `brief hook install`; `brief hook uninstall` removes it.
// It asks the command below at each event and shows the answer. All decisions are made there; a command that fails or is
// slow changes nothing.
import { spawn } from "node:child_process"

const COMMAND = {command}
const HOLDS = {holds}
const TIMEOUT = 2000

function ask(payload) {
  return new Promise((resolve) => {
    let output = ""
    const options = { cwd: payload.cwd, shell: true, stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT }
    const child = spawn(COMMAND, options)
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
    child.stdin.end(JSON.stringify(payload))
  })
}


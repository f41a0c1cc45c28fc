// Written by `brief hook install`; `brief hook uninstall` removes it.
// It asks the command below at each event and shows the answer. All decisions are made there. It never fails and never waits
// long: a command that is missing, crashes, hangs or answers with anything else changes nothing, unless CLOSED is true: then a
// call before which it cannot answer does not happen.
import { spawn } from "node:child_process"

const COMMAND = {command}
const HOLDS = {holds}
const CLOSED = {closed}
const FAILED = CLOSED ? { hold: "brief could not check the rules of this project" } : {}
const TIMEOUT = 5000
const DISABLED = !["", "0", undefined].includes(process.env.BRIEF_DISABLE)

function ask(payload) {
  return new Promise((resolve) => {
    if (DISABLED) return resolve({})
    try {
      let output = ""
      // In a group of its own, the command ends with its shell.
      const ownGroup = process.platform !== "win32"
      const options = { cwd: payload.cwd, shell: true, stdio: ["pipe", "pipe", "ignore"], detached: ownGroup, windowsHide: true }
      const child = spawn(COMMAND, options)
      const timer = setTimeout(() => {
        resolve(FAILED)
        try {
          ownGroup ? process.kill(-child.pid, "SIGKILL") : child.kill()
        } catch {}
        child.stdout.destroy()
      }, TIMEOUT)
      child.on("error", () => resolve(FAILED))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (chunk) => (output += chunk))
      child.on("close", (status) => {
        clearTimeout(timer)
        resolve(status === 0 ? texts(output) : FAILED)
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve(FAILED)
    }
  })
}

// The texts of an answer; nothing of any other output.
function texts(output) {
  try {
    const entries = Object.entries(JSON.parse(output))
    return Object.fromEntries(entries.filter(([, value]) => typeof value === "string"))
  } catch {
    return {}
  }
}


// Structured context for pi: asks `sctx hook` before and after each tool call.
//
// What applies before an edit is shown once, by holding the first such call back with the text as
// its reason; the same call made again goes through. Everything else is added to tool results. A
// failing or slow `sctx` never stands in the way.
import { spawn } from "node:child_process";

const TIMEOUT_MS = 2000;

function ask(event: "tool_call" | "tool_result", tool: string, input: unknown): Promise<string> {
  const payload = { source: "pi", event, tool_name: tool, input, cwd: process.cwd() };
  return new Promise((resolve) => {
    let output = "";
    const child = spawn("sctx hook", { shell: true, stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk) => (output += chunk));
    child.on("close", () => {
      try {
        resolve(JSON.parse(output).additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(payload));
  });
}

export default function (pi: any) {
  const shown = new Set<string>();
  const waiting = new Map<string, string>();

  pi.on("session_start", async () => shown.clear());
  pi.on("session_compact", async () => shown.clear());

  pi.on("tool_call", async (event: any) => {
    const text = await ask("tool_call", event.toolName, event.input);
    if (!text || shown.has(text)) return;
    shown.add(text);
    if (event.toolName === "edit" || event.toolName === "write") {
      return { block: true, reason: `${text}\n\n(Read this, then make the same call again.)` };
    }
    waiting.set(event.toolCallId, text);
  });

  pi.on("tool_result", async (event: any) => {
    const before = waiting.get(event.toolCallId) ?? "";
    waiting.delete(event.toolCallId);
    let after = await ask("tool_result", event.toolName, event.input);
    if (shown.has(after)) after = "";
    if (after) shown.add(after);
    const text = [before, after].filter(Boolean).join("\n\n");
    if (!text) return;
    return { content: [...(event.content ?? []), { type: "text", text }] };
  });
}

// Written by `brief hook install`; `brief hook uninstall` removes it.
// It asks the command below at each prompt and tool call and shows the answer. All decisions are made there; a command
// that fails or is slow changes nothing.
import { spawn } from "node:child_process";

const COMMAND = {command};
const TIMEOUT = 2000;

function ask(context: any, payload: object): Promise<{ additionalContext?: string; hold?: string }> {
  const cwd = context?.cwd ?? process.cwd();
  const session_id = context?.sessionManager?.getSessionId?.();
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(COMMAND, { cwd, shell: true, stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT });
    child.on("error", () => resolve({}));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk) => (output += chunk));
    child.on("close", () => {
      try {
        resolve(JSON.parse(output));
      } catch {
        resolve({});
      }
    });
    child.stdin.end(JSON.stringify({ source: "pi", cwd, session_id, ...payload }));
  });
}

export default function (pi: any) {
  const waiting = new Map<string, string>();

  pi.on("before_agent_start", async (event: any, context: any) => {
    const { additionalContext } = await ask(context, { event: "prompt", prompt: event.prompt });
    if (!additionalContext) return;
    return { message: { customType: "brief", content: additionalContext, display: false } };
  });

  pi.on("session_compact", async (_event: any, context: any) => {
    await ask(context, { event: "compacted" });
  });

  pi.on("tool_call", async (event: any, context: any) => {
    const call = { event: "tool_call", tool_name: event.toolName, tool_input: event.input };
    const { hold, additionalContext } = await ask(context, call);
    if (hold) return { block: true, reason: hold };
    if (additionalContext) waiting.set(event.toolCallId, additionalContext);
  });

  pi.on("tool_result", async (event: any, context: any) => {
    const before = waiting.get(event.toolCallId);
    waiting.delete(event.toolCallId);
    const call = { event: "tool_result", tool_name: event.toolName, tool_input: event.input };
    const { additionalContext } = await ask(context, call);
    const text = [before, additionalContext].filter(Boolean).join("\n\n");
    if (!text) return;
    return { content: [...(event.content ?? []), { type: "text", text }] };
  });
}

#!/usr/bin/env node
// Starts the program of the package for this platform, with the same arguments, streams and exit code.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@briefing/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "brief.exe" : "brief";

let path;
try {
  path = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: the package \`${name}\` is not installed: it is an optional dependency, and this platform may have none`);
  process.exit(2);
}

const program = spawn(path, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// A client ends a server with a signal to this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => program.kill(signal));
program.on("error", (error) => {
  console.error(`error: \`${path}\` cannot be started: ${error.message}`);
  process.exit(2);
});
program.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status));

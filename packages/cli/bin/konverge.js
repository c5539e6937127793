#!/usr/bin/env node
// Starts on Node 20 and newer; what it starts needs a Node that runs TypeScript as it is. When this one is too old, the
// Node that was installed beside Konverge is used.
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const NEEDED = Number(require("../package.json").engines.node.slice(">=".length));

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  // A command that was run before is not compiled again: most of the time until a cluster is ready would go there.
  module.enableCompileCache?.();
  const source = new URL("../src/main.ts", import.meta.url);
  await import(existsSync(source) ? source.href : new URL("../dist/main.js", import.meta.url).href);
} else {
  const { spawn } = await import("node:child_process");
  const { default: inspector } = await import("node:inspector");
  const { constants } = await import("node:os");
  const { fileURLToPath } = await import("node:url");
  const node = newerNode();
  if (!node) {
    console.error(`konverge needs Node ${NEEDED} or newer; this is ${process.version}.`);
    console.error(`Install it from https://nodejs.org, or beside Konverge: npm install --save-dev node@${NEEDED}`);
    process.exit(1);
  }
  // To debug, the process that runs operators is needed, not this one: it gets the options, and the inspector's port is
  // free.
  inspector.close();
  const args = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function newerNode() {
  try {
    const path = require.resolve("node/bin/node");
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianImage } from "./debian-image.ts";
import { python } from "./server-images.ts";

const PROGRAM = join(import.meta.dirname, "../programs/serve.py");

/** A small server in place of vLLM: what it is started with and what it answers are vLLM's. */
export const openaiServer: DebianImage = {
  ...python,
  name: "docker.io/example/openai-server:v1",
  config: { ...python.config, Entrypoint: ["python3", "/serve.py"], Cmd: [] },
  contents: [readFileSync(PROGRAM, "utf8")],
  finish: (root) => copyFileSync(PROGRAM, join(root, "serve.py")),
};

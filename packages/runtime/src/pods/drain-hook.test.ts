import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { drainHook } from "./drain-hook.ts";

const SERIES = ["vllm:num_requests_running", "vllm:num_requests_waiting"];
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const skip = hasPython ? false : "python3, which the hook's program is written for, is not installed";

/** Plays the hook's own command, without its waits, against a server that answers one text after the other. */
async function play(answers: readonly string[]): Promise<{ asked: number; waited: boolean }> {
  let asked = 0;
  const server = createServer((_, response) => response.end(answers[Math.min(asked++, answers.length - 1)]));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const [shell, flag, script, program] = drainHook({ graceSeconds: 60, port, series: SERIES }).preStop!.exec!.command!;
  // `sleep 10` is what is done where metrics do not help: here it is told instead.
  const told = `sleep() { [ "$1" = 10 ] && echo waited; true; }; ${script}`;
  const child = spawn(shell!, [flag!, told, program!.replace("time.sleep(1)", "time.sleep(0)")]);
  let output = "";
  child.stdout.on("data", (text: Buffer) => {
    output += text;
  });
  await once(child, "close");
  server.close();
  return { asked, waited: output.includes("waited") };
}

test("a pod that ends waits until it has answered all it was asked", { skip }, async () => {
  const busy = 'vllm:num_requests_running{model="m"} 2.0\nvllm:num_requests_waiting{model="m"} 1.0\n';
  const nearly = 'vllm:num_requests_running{model="m"} 1.0\nvllm:num_requests_waiting{model="m"} 0.0\n';
  const idle = 'vllm:num_requests_running{model="m"} 0.0\nvllm:num_requests_waiting{model="m"} 0.0\n';
  assert.deepEqual(await play([busy, nearly, idle]), { asked: 3, waited: false });
});

test("a pod whose metrics say nothing of requests waits for a while", { skip }, async () => {
  assert.deepEqual(await play(["process_cpu_seconds_total 3\n"]), { asked: 1, waited: true });
});

test("the hook ends before the grace does", () => {
  assert.match(
    drainHook({ graceSeconds: 300, port: 9090, series: SERIES }).preStop!.exec!.command![3]!,
    /end=time\.monotonic\(\)\+285\n/,
  );
});

import assert from "node:assert/strict";
import { clientNode } from "./catalogue.ts";
import { echo } from "./echo.ts";
import { onBothServers, type Scene, type Stories } from "./on-both-servers.ts";

const objects: Stories = {
  "a program in JavaScript lists, watches, patches and creates from YAML": async (scene) => {
    const namespace = await scene.stage.namespace("objects");
    assert.deepEqual(await play(scene, "objects", namespace), {
      version: "v1.36",
      stale: [true, 409, "Conflict"],
      pages: [1, 1, ""],
      watched: ["MODIFIED replaced", "DELETED replaced"],
      observed: ["add first value", "delete first replaced"],
      missing: [404, 'configmaps "first" not found'],
    });
  },
};

const streams: Stories = {
  "it follows logs, executes commands and forwards ports": async (scene) => {
    echo(scene.stage);
    const namespace = await scene.stage.namespace("streams");
    assert.deepEqual(await play(scene, "streams", namespace), {
      logged: "hello\nworld\n",
      executed: ["ping", "cat -n", "Failure", "3"],
      forwarded: "HELLO",
    });
  },
};

onBothServers(clientNode, objects, { why: "simulated nodes of KWOK run nothing to talk to", stories: streams });

async function play({ stage, peer }: Scene, part: string, namespace: string): Promise<unknown> {
  const program = stage.run(process.execPath, [peer.program, part, namespace]);
  await stage.until("the program ends", () => !program.alive);
  assert.equal(await program.ended, 0, program.output);
  return JSON.parse(program.output.trim().split("\n").at(-1)!);
}

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Node, type NodeSystemInfo } from "@konverge/kinds";
import { commandStage } from "../../test/command-stage.ts";
import { loadImage } from "./load-image.ts";

test("loading an image tells what happens on nodes without an image store that konverge can reach", async () => {
  await using stage = await commandStage({ nodes: [{ name: "simulated", capacity: { cpu: "1" } }] });
  const { client, folder } = stage;
  const archive = join(folder, "web.tar");
  writeFileSync(join(folder, "manifest.json"), JSON.stringify([{ RepoTags: ["example/web:v1"] }]));
  execFileSync("tar", ["-C", folder, "-cf", archive, "manifest.json"]);
  const lines: string[] = [];
  const options = { cluster: "no-such-cluster", tell: (text: string) => lines.push(text) };

  await loadImage(archive, client, options);
  assert.match(
    lines.join("\n"),
    /^not loaded into simulated: simulated nodes have no image store\. Containers of docker\.io\/example\/web:v1 seem to run there/,
  );
  assert.match(lines.join("\n"), /konverge up --real-nodes 1/);

  lines.length = 0;
  const nodeInfo = { containerRuntimeVersion: "containerd://2.2.1" } as NodeSystemInfo;
  await client.create(Node, { metadata: { name: "elsewhere" }, status: { nodeInfo } });
  await loadImage(archive, client, options);
  assert.match(lines.join("\n"), /not loaded into elsewhere, .*ctr --namespace k8s\.io images import .*web\.tar/);

  await assert.rejects(loadImage(join(folder, "missing.tar"), client, options), /missing\.tar does not exist/);
  mkdirSync(join(folder, "source"));
  await assert.rejects(loadImage(join(folder, "source"), client, options), /--image NAME:TAG/);
});

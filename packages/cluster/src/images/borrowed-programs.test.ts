import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { plainNodes } from "../kubelet/node-shape.ts";
import { startCluster } from "../start-cluster.ts";

test("a script that calls a program which a pretended init container was to copy does not fail its pod", async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock, nodes: plainNodes(1) });
  const volumeMounts = [{ name: "bin", mountPath: "/tekton/bin" }];
  const script = "cat > /tmp/script << EOF\nline\nEOF\n/tekton/bin/entrypoint decode-script /tmp/script";
  const pod = (name: string, prepare: string) => ({
    metadata: { name, namespace: "default" },
    spec: {
      restartPolicy: "Never" as const,
      volumes: [{ name: "bin", emptyDir: {} }],
      initContainers: [
        { name: "prepare", image: prepare, command: ["/ko-app/entrypoint", "init"], volumeMounts },
        { name: "scripts", image: "busybox", command: ["sh", "-c", script], volumeMounts },
      ],
      containers: [{ name: "step", image: "busybox", command: ["/tekton/bin/entrypoint", "--"], volumeMounts }],
    },
  });
  const phaseOf = async (name: string) => (await cluster.client.get(Pod, `default/${name}`)).status?.phase;
  await cluster.client.create(Pod, pod("pretended", "registry/entrypoint"));
  const copied = pod("copied", "busybox");
  copied.spec.initContainers[0]!.command = ["true"];
  await cluster.client.create(Pod, copied);
  await clock.advance(60_000);
  assert.equal(await phaseOf("pretended"), "Running");
  // What was really run and did not copy it is no excuse.
  assert.equal(await phaseOf("copied"), "Failed");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "@konverge/kinds";
import { containerOf, node, onNodes } from "./virtual-nodes.ts";

const nodes = [node("one")];
const strict = { strictImages: true, images: ["example/app:1", "example/any"] };
const running = (image: string, more: Partial<Container> = {}) => ({ containers: [{ name: "main", image, ...more }] });

test("with strict images, a container of an image that is not registered is never ready", () =>
  onNodes(
    nodes,
    async (stage) => {
      for (const [name, image] of [
        ["misspelled", "example/ap:1"],
        ["other-tag", "example/app:2"],
      ] as const) {
        await stage.pod(name, running(image));
        await stage.pass(500);
        const failed = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found (this cluster accepts registered images only)`;
        assert.deepEqual(containerOf(await stage.get(name)).state, {
          waiting: { reason: "ErrImagePull", message: failed },
        });
        await stage.pass(600_000);
        const pod = await stage.get(name);
        assert.equal(pod.status?.phase, "Pending");
        assert.match(containerOf(pod).state?.waiting?.reason ?? "", /^(ErrImagePull|ImagePullBackOff)$/);
        assert.ok((await stage.events(name)).includes(`Failed Failed to pull image "${image}": ${failed}`));
      }
    },
    strict,
  ));

test("with strict images, registered, plain and pause images run", () =>
  onNodes(
    nodes,
    async (stage) => {
      stage.cluster.image("example/late");
      const images = ["example/app:1", "example/any:3", "example/late:1", "registry.k8s.io/pause:3.10"];
      for (const [index, image] of images.entries()) await stage.pod(`pod-${index}`, running(image));
      await stage.pod("plain", running("busybox", { command: ["sleep", "inf"] }));
      await stage.pass(2000);
      for (const name of ["pod-0", "pod-1", "pod-2", "pod-3", "plain"])
        assert.equal((await stage.get(name)).status?.phase, "Running", name);
    },
    strict,
  ));

test("an image's name alone changes nothing that is known of it", () =>
  onNodes(
    nodes,
    async (stage) => {
      stage.cluster.image("example/broken", { failPull: "manifest unknown" });
      stage.cluster.image("example/broken:1");
      await stage.pod("broken", running("example/broken:1"));
      await stage.pass(2000);
      assert.equal((await stage.get("broken")).status?.phase, "Pending");
    },
    strict,
  ));

test("probes of a container that only seems to run are reported as not executed", () =>
  onNodes(nodes, async (stage) => {
    const probe = { httpGet: { path: "/", port: 80 } };
    await stage.pod("probed", running("example/web", { readinessProbe: probe, livenessProbe: probe }));
    await stage.pod(
      "real",
      running("busybox", { command: ["sleep", "inf"], readinessProbe: { exec: { command: ["true"] } } }),
    );
    await stage.pass(5000);
    assert.ok(
      (await stage.events("probed")).includes(
        'ProbesNotExecuted Container main only seems to run: nothing is known of image "example/web". Not executed, taken to succeed: readiness, liveness probes',
      ),
    );
    assert.ok(!(await stage.events("real")).some((one) => one.startsWith("ProbesNotExecuted")));
  }));

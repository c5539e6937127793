// The image of a new project, built from the Dockerfile that it is made with, and run on a real node.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { type Client, connect } from "@konverge/client";
import type { KindRef, KubeObject } from "@konverge/core";
import { ConfigMap, Deployment, Namespace, Pod } from "@konverge/kinds";
import { nodeBuilder, nodeRuntime } from "../../tools/nodes/images/base-images.ts";
import { debianArchive } from "../../tools/nodes/images/debian-image.ts";
import { whyNoRealNodes } from "../../tools/nodes/requirements.ts";
import { packTarballs } from "../release/tarballs.ts";
import { NewProject } from "./new-project.ts";
import { orderedTests } from "./ordered-tests.ts";
import { until } from "./servers.ts";

const IMAGE = "registry.example.com/cache-operator:v1";
const CACHES: KindRef<KubeObject & { spec: { text: string } }> = {
  ...{ group: "example.com", version: "v1beta1", kind: "Cache", plural: "caches", namespaced: true },
};

describe("the image of a new project on a real node", { skip: whyNoRealNodes() }, () => {
  const project = new NewProject("cache-operator");
  const kubeconfig = join(project.place, "kubeconfig");
  const where = ["--kubeconfig", kubeconfig];
  let client: Client;
  let isUp = false;
  before(async () => await packTarballs());
  after(async () => {
    await client?.close();
    if (isUp) await project.konverge("down", "--name", "project");
    if (project.env["CONTAINERS_STORAGE_CONF"]) await project.run("buildah", ["rmi", "--all", "--force"]);
    await project[Symbol.asyncDispose]();
  });
  const step = orderedTests();

  step("a project is made, with two versions of its kind", async () => {
    await project.create("--kind", "Cache");
    await project.konverge("create", "version", "--kind", "Cache", "--version", "v1beta1");
  });

  step("konverge up starts a real node", async () => {
    isUp = true;
    await project.konverge("up", "--background", "--name", "project", "--real-nodes", "1", ...where);
    client = await connect({ kubeconfig });
  });

  step(
    "konverge image load builds the image with buildah, without a registry, and loads it into the node",
    async () => {
      await storeBaseImages(project);
      const output = await project.konverge("image", "load", ".", "--name", "project", "--image", IMAGE);
      assert.match(output, /registry\.example\.com\/cache-operator:v1 loaded into linux-1/);
    },
  );

  step(
    "the operator runs from its image under the Pod Security Standard restricted, and converts versions",
    async () => {
      const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
      await client.create(Namespace, { metadata: { name: "caches", labels } });
      await project.konverge("deploy", "--image", IMAGE, "--namespace", "caches", ...where);
      assert.equal((await client.get(Deployment, "caches/cache-operator")).status?.availableReplicas, 1);
      const { items } = await client.list(Pod, { namespace: "caches" });
      assert.match(items[0]?.status?.containerStatuses?.[0]?.containerID ?? "", /^containerd:/);
      const metadata = { name: "real", namespace: "default" };
      await client.create(CACHES, {
        apiVersion: "example.com/v1beta1",
        kind: "Cache",
        metadata,
        spec: { text: "hello" },
      });
      await until("its ConfigMap is there", async () => {
        return (await client.get(ConfigMap, "default/cache-real")).data?.["text"] === "hello";
      });
    },
  );

  step("undeploy, uninstall and down leave nothing", async () => {
    await project.konverge("undeploy", "--namespace", "caches", ...where);
    await project.konverge("uninstall", "--force", ...where);
    await project.konverge("down", "--name", "project");
    isUp = false;
    assert.match(await project.konverge("node", "list"), /there are no real nodes on this machine/);
  });
});

/**
 * The images that the Dockerfile builds on, in a store that is the test's own. There is no registry: they are made from Debian's
 * packages and the pinned Node, under the same names.
 */
async function storeBaseImages(project: NewProject): Promise<void> {
  const file = join(project.place, "storage.conf");
  const folders = ["graph", "run"].map((name) => join(project.place, "images", name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  writeFileSync(file, `[storage]\ndriver = "vfs"\ngraphroot = "${folders[0]}"\nrunroot = "${folders[1]}"\n`);
  project.env["CONTAINERS_STORAGE_CONF"] = file;
  for (const base of [nodeBuilder, nodeRuntime]) {
    const archive = await debianArchive(base);
    const id = (await project.run("buildah", ["pull", "--quiet", `oci-archive:${archive}`])).trim();
    await project.run("buildah", ["tag", id, base.name]);
  }
}

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { suite, test } from "node:test";
import { deepEqual, readText, VirtualClock } from "@konverge/core";
import { type DownloadedModule, defaultKubernetesVersion, downloadModule } from "@konverge/real";
import { parseYaml } from "@konverge/schema";
import { ApiServer } from "../../server.ts";

interface Container {
  name: string;
  image: string;
  securityContext?: object;
}
interface Pod {
  metadata: { name: string; annotations?: object };
  spec: { containers: Container[]; initContainers?: Container[]; securityContext?: object };
}

const CODE = "k8s.io/pod-security-admission";
const version = defaultKubernetesVersion.replace(/^1\./, "v0.");
const fixtures = await downloaded();
/** From 1.35 on, the only pods that violate this check of the baseline are invalid before they are checked. */
const REFUSED_AS_INVALID = /\/v1\.(3[5-9]|[4-9]\d)\/fail\/procmount\d/;

const HARMLESS: Container = {
  name: "debugger",
  image: "busybox",
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  },
};

suite("the fixtures of k8s.io/pod-security-admission", {
  skip: typeof fixtures === "string" ? fixtures : false,
}, () => {
  const root = typeof fixtures === "string" ? "" : join(fixtures.Dir, "test", "testdata");
  const files = globSync("*/*/{pass,fail}/*.yaml", { cwd: root }).sort();

  for (const [policy, members] of Map.groupBy(files, (file) => file.split("/").slice(0, 2).join("/"))) {
    test(`${policy}: pods, templates and ephemeral containers of ${members.length} fixtures are judged as upstream does`, async () => {
      const [level, minor] = policy.split("/") as [string, string];
      const server = new PolicyServer();
      await server.createNamespace();
      const pods = new Map(members.map((file) => [file, podOf(join(root, file))]));
      for (const [file, pod] of pods) {
        if (!REFUSED_AS_INVALID.test(file)) {
          const stored = await server.create(pod);
          assert.equal(stored.status, 201, `${file}: ${stored.message}`);
        }
      }
      await server.enforce(level, minor);
      const base = pods.get(`${policy}/pass/base.yaml`)!;
      for (const [file, pod] of pods) {
        const isForbidden = file.includes("/fail/");
        const answer = await server.create(pod, "?dryRun=All");
        const template = await server.createDeployment(pod);
        if (REFUSED_AS_INVALID.test(file)) {
          for (const one of [answer, template]) assert.match(one.message, /hostUsers/, file);
          continue;
        }
        assert.equal(answer.status, isForbidden ? 403 : 201, `${file}: ${answer.message}`);
        if (isForbidden) assert.match(answer.message, /violates PodSecurity/, file);
        assert.equal(template.status, 201, `${file}: ${template.message}`);
        assert.equal(
          template.warnings.includes("would violate PodSecurity"),
          isForbidden,
          `${file}: ${template.warnings}`,
        );
        const debugged = await server.debug(pod.metadata.name, [HARMLESS]);
        assert.equal(debugged.status, isForbidden ? 403 : 200, `${file}: ${debugged.message}`);
        const containers = isForbidden ? differing(pod, base) : [];
        if (containers.length === 0) continue;
        const joined = await server.debug(base.metadata.name, containers);
        assert.equal(joined.status, 403, `${file}, as an ephemeral container: ${joined.message}`);
      }
    });
  }

  test("none of them is left out", () => assert.ok(files.length > 4000, String(files.length)));
});

/** The containers of a pod that differ from the allowed pod's in their security context, where nothing else does. */
function differing(pod: Pod, base: Pod): Container[] {
  const { containers, initContainers = [], ...rest } = pod.spec;
  const { containers: _containers, initContainers: _initContainers, ...allowed } = base.spec;
  if (pod.metadata.annotations || !deepEqual(rest, allowed)) return [];
  const all = [...containers, ...initContainers];
  if (all.some((one) => Object.keys(one).some((key) => !["name", "image", "securityContext"].includes(key)))) return [];
  return all.filter(({ securityContext }) => !deepEqual(securityContext, base.spec.containers[0]!.securityContext));
}

/** Names of fixtures have underscores, which names of pods do not. */
function podOf(path: string): Pod {
  const pod = parseYaml(readFileSync(path, "utf8"))[0] as Pod;
  const folder = path.includes("/fail/") ? "fail" : "pass";
  return { ...pod, metadata: { ...pod.metadata, name: `${folder}-${basename(path, ".yaml").replaceAll("_", "-")}` } };
}

async function downloaded(): Promise<DownloadedModule | string> {
  try {
    return downloadModule(process.cwd(), `${CODE}@${version}`);
  } catch (error) {
    return `${CODE}@${version} cannot be downloaded: ${(error as Error).message.split("\n")[0]}`;
  }
}

/** An embedded server with one namespace. */
class PolicyServer {
  readonly #server = new ApiServer({ clock: new VirtualClock() });

  async #send(method: string, path: string, body: object) {
    const headers = {
      "content-type": method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json",
    };
    const response = await this.#server.transport({ method, path, headers, body: JSON.stringify(body) });
    const { message = "" } = JSON.parse(await readText(response.body)) as { message?: string };
    return { status: response.status, message, warnings: String(response.headers["warning"] ?? "") };
  }

  createNamespace() {
    return this.#send("POST", "/api/v1/namespaces", { metadata: { name: "judged" } });
  }

  enforce(level: string, version: string) {
    const labels = Object.fromEntries(
      ["enforce", "warn"].flatMap((mode) => [
        [`pod-security.kubernetes.io/${mode}`, level],
        [`pod-security.kubernetes.io/${mode}-version`, version],
      ]),
    );
    return this.#send("PATCH", "/api/v1/namespaces/judged", { metadata: { labels } });
  }

  create(pod: Pod, query = "") {
    const name = query === "" ? pod.metadata.name : "another";
    return this.#send("POST", `/api/v1/namespaces/judged/pods${query}`, {
      ...pod,
      metadata: { ...pod.metadata, name },
    });
  }

  createDeployment({ metadata, spec }: Pod) {
    const labels = { app: "a" };
    const template = { metadata: { ...metadata, labels }, spec };
    return this.#send("POST", "/apis/apps/v1/namespaces/judged/deployments?dryRun=All", {
      metadata: { name: "another" },
      spec: { selector: { matchLabels: labels }, template },
    });
  }

  debug(pod: string, containers: readonly Container[]) {
    const ephemeralContainers = containers.map((one, index) => ({ ...one, name: `debugger-${index}` }));
    return this.#send("PATCH", `/api/v1/namespaces/judged/pods/${pod}/ephemeralcontainers?dryRun=All`, {
      spec: { ephemeralContainers },
    });
  }
}

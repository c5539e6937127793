// What the pictures of the console show: a cluster with operators at work, one object that a quota stops, a recording and findings.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { type Cluster, type Program, parseGpuNodes, plainNodes, startCluster } from "@konverge/cluster";
import { type Console, startConsole } from "@konverge/console";
import { AdjustableClock, type KubeObject, realClock, sleep } from "@konverge/core";
import { PretendServers } from "@konverge/database-operator/pretend-servers";
import { Pod, ResourceQuota } from "@konverge/kinds";
import { operators, samplesOf } from "@konverge/operators";
import { chosenSamples } from "../../packages/cli/src/demo/chosen-samples.ts";
import { deploy } from "../../packages/cli/src/deploy/deploy.ts";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../../packages/cli/src/manifests/defaults.ts";
import { operatorCatalog } from "../../packages/cli/src/operator-image/catalog.ts";
import { OPERATOR_IMAGE, operatorProgram } from "../../packages/cli/src/operator-image/operator-image.ts";
import { chosenOperators } from "../../packages/cli/src/operators/operator-modules.ts";
import { exploreForgetful } from "../../packages/console/test/explored.ts";
import { recordCopies } from "../../packages/console/test/recorded.ts";

const NAMES = "database-operator,llm-operator,training-operator";

export interface ConsoleScenes extends AsyncDisposable {
  readonly console: Console;
  /** Of objects that pictures show. */
  readonly ids: Readonly<Record<"database" | "limited" | "operator" | "web", string>>;
  readonly recording: string;
  readonly exploration: string;
}

/** Starts everything. Files are written to the folder. */
export async function startScenes(folder: string): Promise<ConsoleScenes> {
  const running = new AsyncDisposableStack();
  try {
    const clock = new AdjustableClock(realClock());
    const authority = createAuthority(clock);
    const nodes = [...plainNodes(3), ...parseGpuNodes("H100=8x2")];
    const cluster = await startCluster({ clock, rootCertificate: authority.cert, nodes });
    const catalog = await operatorCatalog({ modules: ["@konverge/operators"], names: NAMES });
    cluster.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock }) });
    cluster.image("example/web", { run: helloProgram });
    // Servers that behave as PostgreSQL's do.
    new PretendServers({ cluster, clock } as never).play("postgres");
    const port = await cluster.listen({ authority });
    // Programs in pods end through the port.
    running.defer(async () => {
      await cluster.stop();
      await port.close();
    });
    const console = running.use(
      await startConsole({ client: cluster.client, title: "konverge-demo", embedded: { cluster, time: clock } }),
    );
    const ids = await fill(cluster);
    const [recording, exploration] = [join(folder, "reconciles.jsonl"), await exploreForgetful(folder)];
    await recordCopies(recording);
    return { console, ids, recording, exploration, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

/** Deploys the operators and makes objects, and waits until they are as pictures show them. */
async function fill({ client }: Cluster): Promise<ConsoleScenes["ids"]> {
  const chosen = chosenOperators(operators, NAMES);
  const namespace = DEFAULT_NAMESPACE;
  await deploy(chosen, client, { namespace, image: DEFAULT_IMAGE, tell: () => {} });
  const database = await create(client, {
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name: "postgres-orders", namespace },
    spec: { version: "16.4", size: "5Gi", instances: 3, synchronous: 2, failover: { delay: "2s" } },
  });
  for (const { object } of chosen
    .filter(({ name }) => name !== "database-operator")
    .flatMap((one) => chosenSamples(one, samplesOf(one))))
    await create(client, { ...object, metadata: { namespace, ...object.metadata } });
  await create(client, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
  await create(client, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "team-a", namespace: "team-a" },
    spec: { hard: { pods: "2" } },
  });
  // A quota is enforced once its controller has counted.
  const quota = async () => (await client.get(ResourceQuota, "team-a/team-a")).status?.hard;
  while ((await quota()) === undefined) await sleep(client.clock, 100);
  const limited = await create(client, deployment("shop", "team-a", "example/shop", 4));
  await create(client, deployment("web", namespace, "example/web", 2));
  const found = async (labelSelector: string) => {
    for (;;) {
      const { items } = await client.list(Pod, { labelSelector, namespace });
      const ready = items.find(({ status }) =>
        status?.conditions?.some((one) => one.type === "Ready" && one.status === "True"),
      );
      if (ready) return ready.metadata.uid!;
      await sleep(client.clock, 200);
    }
  };
  return {
    database,
    limited,
    operator: await found("app=database-operator"),
    web: await found("app=web"),
  };
}

function deployment(name: string, namespace: string, image: string, replicas: number): KubeObject {
  const labels = { app: name };
  const containers = [{ name: "web", image, ports: [{ containerPort: 8080 }] }];
  const spec = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace }, spec } as KubeObject;
}

async function create(client: Client, object: KubeObject & { spec?: object }): Promise<string> {
  const kind = await client.mapper.resolve({ apiVersion: object.apiVersion ?? "", kind: object.kind ?? "" });
  const { metadata } = await client.apply(kind, object as never, { fieldManager: "kubectl", force: true });
  return metadata.uid!;
}

const helloProgram: Program = async ({ expose, stop }) => {
  const server = createServer((_, response) => response.end("hello\n"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  expose(8080, { host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  server.close();
};

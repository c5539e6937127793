import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { DynamoGraphDeployment } from "@konverge/dynamo-operator";
import { ConfigMap, Pod, Service } from "@konverge/kinds";
import { dynamo, etcd, nats } from "./images/dynamo.ts";
import { python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { restrictedPod } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "graphs";
const KEY = `${NAMESPACE}/words`;
const program = (name: string) => readFileSync(new URL(`programs/${name}.py`, import.meta.url), "utf8");
const [CLIENT, ENGINE] = [program("ask"), program("vllm")];

/** Dynamo itself: frontends and its workers for vLLM, which find each other by etcd and NATS. A small engine stands for vLLM. */
describe("dynamo on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-dynamo", images: [dynamo, nats, etcd, python] });
    for (const name of [NAMESPACE, "dynamo", "operators"]) await cluster.restrictedNamespace(name);
    await server("nats", "nats:2.9", 4222, []);
    const urls = ["--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://etcd.dynamo.svc:2379"];
    await server("etcd", "example/etcd:3.4", 2379, ["--data-dir=/tmp/etcd", ...urls]);
    const addresses = ["--natsAddr=nats://nats:4222", "--etcdAddr=http://etcd:2379"];
    cluster.deploy("dynamo-operator", "operators", ...addresses, "--defaultImage=example/dynamo:0.5.1");
  });
  after(async () => await cluster?.stop());

  /** A server and its Service in the system namespace. */
  const server = async (name: string, image: string, port: number, args: string[]) => {
    const metadata = { name, namespace: "dynamo", labels: { app: name } };
    const readinessProbe = { tcpSocket: { port }, periodSeconds: 1 };
    await cluster.client.create(Pod, { metadata, spec: restrictedPod({ name, image, args, readinessProbe }) });
    await cluster.client.create(Service, { metadata, spec: { selector: { app: name }, ports: [{ port }] } });
  };
  const isReady = (seconds: number) =>
    until("the graph is ready", seconds, async () => {
      const { metadata, status } = await cluster.client.get(DynamoGraphDeployment, KEY);
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status === "True" && ready.observedGeneration === metadata.generation) return true;
      throw new Error(JSON.stringify(status));
    });
  const podsOf = async (component: string) => {
    const labelSelector = `nvidia.com/dynamo-component=${component}`;
    return (await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector })).items;
  };
  const outcomes = async () => {
    const lines = await cluster.log(`${NAMESPACE}/client`);
    return {
      answered: lines.filter((line) => line === "answered").length,
      failed: lines.filter((line) => line.startsWith("failed")),
    };
  };
  const isAnswered = async (more: number) => {
    const { answered } = await outcomes().catch(() => ({ answered: 0 }));
    await until(`${more} more requests are answered`, 120, async () =>
      (await outcomes()).answered >= answered + more ? true : undefined,
    );
  };
  const resize = async (service: string, replicas: number) => {
    await cluster.client.patch(DynamoGraphDeployment, KEY, {
      merge: { spec: { services: { [service]: { replicas } } } } as never,
    });
    await until(`${service} has ${replicas} pods`, 180, async () =>
      (await podsOf(service)).length === replicas ? true : undefined,
    );
  };

  test("a frontend and two workers register, pass their probes, and the graph is ready", async (t) => {
    // The worker also imports msgspec, for graphs with separate workers for prefill.
    const data = { "vllm.py": ENGINE, "msgspec.py": "" };
    await cluster.client.create(ConfigMap, { metadata: { name: "engine", namespace: NAMESPACE }, data });
    const volumeMounts = [{ name: "engine", mountPath: "/engine" }];
    const extraPodSpec = {
      // Workers of Dynamo 0.5.1 stop serving when they get SIGTERM, and run until they are killed.
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: "engine", configMap: { name: "engine" } }],
      mainContainer: { volumeMounts, env: [{ name: "PYTHONPATH", value: "/engine" }] },
    };
    const envs = [{ name: "MODEL", value: "/models/words" }];
    const worker = { componentType: "worker", replicas: 2, envs, extraPodSpec };
    const create = async () => {
      await cluster.client.create(DynamoGraphDeployment, {
        metadata: { name: "words", namespace: NAMESPACE },
        // As a user writes it: fields with defaults are left to the server.
        spec: { services: { Frontend: { replicas: 2 }, Worker: worker } } as unknown as DynamoGraphDeployment["spec"],
      });
      await isReady(240);
    };
    t.diagnostic(`ready after ${await timed(create)} s`);
    const nodes = (await podsOf("Worker")).map(({ spec }) => spec?.nodeName);
    assert.equal(new Set(nodes).size, 2, "the workers run on both nodes");
  });

  test("a client of OpenAI's API is answered through the frontends' Service", async () => {
    await cluster.client.create(Pod, {
      metadata: { name: "client", namespace: NAMESPACE },
      spec: restrictedPod({
        name: "client",
        image: "python:3.11-slim",
        command: ["python3", "-c", CLIENT],
        env: [
          { name: "URL", value: `http://words-frontend.${NAMESPACE}.svc:8000/v1` },
          { name: "MODEL", value: "words" },
        ],
      }),
    });
    await isAnswered(50);
    assert.deepEqual((await outcomes()).failed, []);
  });

  test("a frontend that leaves is drained, and no request is lost", async (t) => {
    t.diagnostic(`left after ${await timed(() => resize("Frontend", 1))} s`);
    await isAnswered(50);
    assert.deepEqual((await outcomes()).failed, []);
  });

  test("requests of a worker that leaves continue on the other one, and none is lost", async (t) => {
    t.diagnostic(`left after ${await timed(() => resize("Worker", 1))} s`);
    await isAnswered(50);
    const { answered, failed } = await outcomes();
    const [frontend] = await podsOf("Frontend");
    const lines = await cluster.log(`${NAMESPACE}/${frontend!.metadata.name}`);
    const continued = lines.filter((line) => line.includes("recreating stream")).length;
    t.diagnostic(`${continued} requests continued, ${answered} were answered`);
    assert.deepEqual(failed, []);
    assert.ok(continued > 0, "the worker had requests when it left");
  });
});

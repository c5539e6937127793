import assert from "node:assert/strict";
import { test } from "node:test";
import { requiredReplicas } from "konverge/sizing";
import { ModelDeployment } from "./model-deployment.ts";
import { discoveryServiceFor, headlessServiceFor, scrapedLabels } from "./model-deployment-children.ts";
import { sizingRules } from "./sizing-rules.ts";

const deployment = (spec: object) =>
  ModelDeployment.new({
    metadata: { name: "chat", namespace: "ns" },
    spec: { model: "m", ...spec },
  }) as ModelDeployment;

test("a replica works on many requests at once, unless the deployment or the server's arguments say otherwise", () => {
  const concurrency = (spec: object) => sizingRules(deployment(spec)).concurrency;
  assert.equal(concurrency({}), 64);
  assert.equal(concurrency({ args: ["--max-num-seqs", "16"] }), 16);
  assert.equal(concurrency({ args: ["--seed=1", "--max-num-seqs=8"] }), 8);
  assert.equal(concurrency({ args: ["--max_num_seqs", "8"] }), 8);
  assert.equal(concurrency({ gpuCount: 4, parallelism: { data: 4 }, args: ["--max-num-seqs=8"] }), 32, "of each copy");
  assert.equal(concurrency({ args: ["--max-num-seqs=8"], capacity: { concurrency: 2 } }), 2);
  const spec = {
    sla: { maxLatency: "4s" },
    capacity: { serviceTime: "2s" },
    load: { requestsPerSecond: 10 },
    scaling: { maxReplicas: 100 },
  };
  assert.equal(requiredReplicas(sizingRules(deployment(spec)), undefined, undefined).replicas, 1);
});

test("Prometheus finds each replica through one Service", () => {
  const wanted = Object.entries(scrapedLabels(deployment({})));
  const isScraped = ({ metadata }: { metadata: { labels?: Record<string, string> } }) =>
    wanted.every(([name, value]) => metadata.labels?.[name] === value);
  const services = [discoveryServiceFor(deployment({})), headlessServiceFor(deployment({}))];
  assert.equal(services.filter(isScraped).length, 1);
});

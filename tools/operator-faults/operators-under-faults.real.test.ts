import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@konverge/client";
import { DEFAULT_NODES } from "@konverge/cluster";
import { type Clock, isObject, realClock, seededRandom, sleep } from "@konverge/core";
import { Namespace, Node, PersistentVolume } from "@konverge/kinds";
import { kwokNode } from "@konverge/operator-suite";
import { operators, samplesOf } from "@konverge/operators";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { parseYaml, printYaml } from "@konverge/schema";
import { rotatingSeed } from "../../scripts/sample.ts";
import { FailingNetwork } from "./failing-network.ts";
import { judgeLeadership } from "./leadership.ts";
import { outcomeIn } from "./outcome.ts";
import { Replica } from "./replica.ts";
import { type Pair, Storm } from "./storm.ts";

const CONFIG = fileURLToPath(new URL("../../config/", import.meta.url));
const MINUTE = 60_000;
const FAILING = 0.07;
const ROUNDS = 4;
/** So that every sample has room, whatever is there already. */
const COPIES_OF_NODES = 4;

const seed = rotatingSeed(process.env["KONVERGE_SEED"]);
const plane = findControlPlane();

describe("two replicas of each operator on a real control plane", { skip: plane.available ? false : plane.why }, () => {
  const clock = realClock();
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "konverge-faults-"));
  let [cluster, client]: [RealCluster, Client] = [undefined!, undefined!];
  let pairs: readonly Pair[] = [];
  let calm: ReadonlyMap<string, string>;

  before(async () => {
    cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 0 } });
    client = await connect({ kubeconfig: cluster.kubeconfig });
    for (let copy = 0; copy < COPIES_OF_NODES; copy++) {
      for (const shape of DEFAULT_NODES) {
        await client.create(Node, kwokNode({ ...shape, name: `${shape.name}-${copy}` }) as never);
      }
    }
    pairs = await Promise.all(operators.map(({ name }) => startPair(name)));
    process.once("exit", () => pairs.flat().map((replica) => replica.signal("SIGKILL")));
  });

  after(async () => {
    for (const replica of pairs.flat()) await replica[Symbol.asyncDispose]();
    await client?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startPair(operator: string): Promise<Pair> {
    await apply(definitionsOf(operator));
    for (const file of ["service-account.yaml", "role.yaml"]) {
      await apply(readFileSync(join(CONFIG, operator, file), "utf8"));
    }
    const { token } = await client.requestToken(`default/${operator}`);
    const start = async (number: number, clockSkew: number) => {
      const network = new FailingNetwork({ url: cluster.url, ca: cluster.ca, token }, random.fork());
      await network.listen();
      const replica = new Replica({ operator, number, clockSkew, network, folder });
      replica.start();
      return replica;
    };
    return [await start(0, 0), await start(1, MINUTE)];
  }

  async function apply(text: string, ...more: string[]): Promise<void> {
    // While the API server is away, users try again, too.
    for (let attempt = 1; ; attempt++) {
      const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-", ...more], text);
      if (code === 0) return;
      assert.ok(attempt < 30, stderr);
      await sleep(clock, 1_000);
    }
  }

  /** A namespace of that name with volumes to claim. */
  async function supply(namespace: string): Promise<void> {
    await client.create(Namespace, { metadata: { name: namespace } });
    for (let i = 0; i < 20; i++) {
      await client.create(PersistentVolume, {
        metadata: { name: `${namespace}-${i}` },
        spec: {
          capacity: { storage: "100Gi" },
          accessModes: ["ReadWriteOnce", "ReadWriteMany"],
          hostPath: { path: `/volumes/${namespace}-${i}` },
        },
      });
    }
  }

  test("with nothing wrong, they bring their samples to an end", { timeout: 6 * MINUTE }, async () => {
    await supply("calm");
    for (const text of samples()) await apply(text, "--namespace", "calm");
    calm = await settled(clock, () => outcomeIn(client, "calm"));
    // Each operator warns about webhooks without a server, and about old CRDs, if it has the permission to read them.
    const forbidden = pairs.flat().flatMap(({ network }) => network.forbidden);
    assert.deepEqual(
      forbidden.filter((request) => !/^GET .*(webhookconfigurations|customresourcedefinitions)$/.test(request)),
      [],
    );
    await client.delete(Namespace, "calm");
  });

  test("whatever fails, they come to the same end, and never do two replicas of one write", {
    timeout: 12 * MINUTE,
  }, async (t: TestContext) => {
    t.diagnostic(`KONVERGE_SEED=${seed} repeats the order of the faults`);
    await supply("storm");
    const networks = pairs.flat().map(({ network }) => network);
    for (const network of networks) network.failing = FAILING;
    const storm = new Storm(cluster, pairs, clock, random.fork());
    const weather = storm.run(ROUNDS);
    for (const text of samples()) {
      await apply(text, "--namespace", "storm");
      await sleep(clock, 2_000);
    }
    await weather;
    for (const network of networks) network.failing = 0;

    const end = clock.monotonic() + 5 * MINUTE;
    let outcome = await outcomeIn(client, "storm");
    while (differences(calm, outcome).length > 0 && clock.monotonic() < end) {
      await sleep(clock, 3_000);
      outcome = await outcomeIn(client, "storm");
    }
    const verdicts = pairs.map((pair) => judgeLeadership(pair.map(({ network }) => network)));
    const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
    t.diagnostic(
      [
        ...Object.entries(storm.counts).map(([what, count]) => `${what}: ${count}`),
        `requests: ${sum(networks.map(({ requests }) => requests))}, failed: ${sum(networks.map(({ failed }) => failed))}`,
        `leases that went to the other replica: ${sum(verdicts.map(({ handovers }) => handovers))}`,
      ].join("; "),
    );
    for (const exit of pairs.flat().flatMap(({ exits }) => exits)) t.diagnostic(exit);
    assert.deepEqual(differences(calm, outcome), []);
    assert.deepEqual(
      verdicts.flatMap(({ usurped }, i) => usurped.map((write) => `${operators[i]!.name}: ${write}`)),
      [],
    );
    assert.ok(
      verdicts.every(({ handovers }) => handovers > 0),
      "an operator never changed its leader",
    );
  });
});

/** CustomResourceDefinitions without conversion webhooks, which need a certificate that the API server knows. */
function definitionsOf(operator: string): string {
  const crds = join(CONFIG, operator, "crds");
  const files = readdirSync(crds).filter((file) => file !== "kustomization.yaml");
  const documents = files.flatMap((file) => parseYaml(readFileSync(join(crds, file), "utf8")));
  return printYaml(
    ...documents.map((crd) => {
      assert.ok(isObject(crd) && isObject(crd["spec"]));
      return { ...crd, spec: { ...crd["spec"], conversion: { strategy: "None" } } };
    }),
  );
}

/** The samples of all operators, of the versions that are stored. */
function samples(): string[] {
  return operators.flatMap((operator) =>
    samplesOf(operator)
      .map(({ text }) => text)
      .filter((text) =>
        parseYaml(text).every(
          (object) =>
            !isObject(object) ||
            operator.kinds.every(
              ({ group, version, kind }) =>
                kind !== object["kind"] ||
                !String(object["apiVersion"]).startsWith(`${group}/`) ||
                object["apiVersion"] === `${group}/${version}`,
            ),
        ),
      ),
  );
}

/** An outcome that has not changed for twenty seconds. */
async function settled(clock: Clock, read: () => Promise<Map<string, string>>): Promise<Map<string, string>> {
  const end = clock.monotonic() + 4 * MINUTE;
  let [outcome, since, changes] = [await read(), clock.monotonic(), [] as string[]];
  while (clock.monotonic() - since < 20_000) {
    if (clock.monotonic() > end)
      throw new Error(`the objects do not come to an end; the last to change:\n${changes.join("\n")}`);
    await sleep(clock, 2_000);
    const next = await read();
    const changed = differences(outcome, next);
    if (changed.length > 0) [outcome, since, changes] = [next, clock.monotonic(), changed];
  }
  return outcome;
}

function differences(expected: ReadonlyMap<string, string>, actual: ReadonlyMap<string, string>): string[] {
  return [...new Set([...expected.keys(), ...actual.keys()])]
    .filter((key) => expected.get(key) !== actual.get(key))
    .map((key) => `${key}: expected ${expected.get(key) ?? "nothing"}, but it is ${actual.get(key) ?? "nothing"}`);
}

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { Deployment, Pod } from "@konverge/kinds";
import { until } from "../../test/command-stage.ts";
import { type UpOptions, up } from "./up.ts";

/** Records which process loads it, and logs which files of its project it can read. */
const OPERATOR = `
import { appendFileSync, readFileSync } from "node:fs";
const top = new URL("../", import.meta.url);
const outcome = (act) => { try { act(); return "done"; } catch (error) { return error.code; } };
outcome(() => appendFileSync(new URL("loaded", top), process.pid + "\\n"));
export const mine = {
  name: "mine-operator", description: "Mine.", kinds: [], settings: [],
  create: ({ log }) => {
    const read = (name) => outcome(() => readFileSync(new URL(name, top)));
    log.info({ pid: process.pid, env: read(".env"), source: read("src/operator.ts") }, "made");
    return { controllers: [] };
  },
};
`;

let folder: string;
const earlier = { cwd: process.cwd(), home: process.env["KONVERGE_HOME"] };
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "konverge-project-")));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "project", type: "module" }));
  writeFileSync(join(folder, "src", "operator.ts"), OPERATOR);
  writeFileSync(join(folder, ".env"), "PASSWORD=secret");
  process.env["KONVERGE_HOME"] = join(folder, "home");
  process.chdir(folder);
});
after(() => {
  process.chdir(earlier.cwd);
  if (earlier.home === undefined) delete process.env["KONVERGE_HOME"];
  else process.env["KONVERGE_HOME"] = earlier.home;
  rmSync(folder, { recursive: true, force: true });
});

const options = (more: Partial<UpOptions> = {}): UpOptions => ({
  name: "operators",
  port: 0,
  host: "127.0.0.1",
  kubeconfig: join(folder, "kubeconfig"),
  nodes: 1,
  gpus: "none",
  timeScale: 1,
  operators: "none",
  ...more,
});

async function logOf(client: Client, name: string): Promise<string> {
  let text = "";
  for await (const line of client.logs(`default/${name}`)) text += `${line}\n`;
  return text;
}

test("operators of the project run in their pods, and the cluster's own process loads none of their code", async () => {
  const { cluster, stop } = await up(options({ operators: "mine" }));
  try {
    const { client } = cluster;
    assert.equal((await client.get(Deployment, "default/mine-operator")).status?.availableReplicas, 1);
    const [pod] = (await client.list(Pod, { namespace: "default" })).items;
    const made = (await logOf(client, pod!.metadata.name)).split("\n").find((line) => line.includes('"made"'));
    const { pid, env, source } = JSON.parse(made!) as { pid: number; env: string; source: string };
    assert.deepEqual({ env, source }, { env: "ERR_ACCESS_DENIED", source: "done" });
    const loaded = readFileSync(join(folder, "loaded"), "utf8").trim().split("\n").map(Number);
    assert.equal(
      loaded.length,
      1,
      "where it was found out what the operators are; the pod's process cannot write there",
    );
    assert.ok(!loaded.includes(process.pid) && pid !== process.pid);
  } finally {
    await stop();
  }
});

test("without --operators, a pod of their image behaves like one of any unknown image", async () => {
  const { noted, stop } = await up(options());
  try {
    await using client = await connect({ kubeconfig: noted.kubeconfig });
    const states = new Map<string, unknown>();
    const annotations = { "sim.konverge.dev/run-duration": "1s" };
    for (const [name, image] of Object.entries({ operators: "konverge/operators:0.1.0", unknown: "example/unknown" })) {
      const containers = [{ name: "main", image, args: ["run", "no-such-file.ts"] }];
      const metadata = { name, namespace: "default", annotations };
      await client.create(Pod, { metadata, spec: { restartPolicy: "Never", containers } });
      await until("it has ended, or its status has the reason why it does not start", async () => {
        const { state } = (await client.get(Pod, `default/${name}`)).status?.containerStatuses?.[0] ?? {};
        const reason = state?.waiting?.reason;
        states.set(name, { exitCode: state?.terminated?.exitCode, reason });
        return state?.terminated !== undefined || Boolean(reason?.match(/Image/));
      });
    }
    assert.deepEqual(states.get("operators"), states.get("unknown"));
  } finally {
    await stop();
  }
});

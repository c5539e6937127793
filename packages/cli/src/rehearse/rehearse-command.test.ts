import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { Rehearsal } from "@konverge/testing";
import { commandStage } from "../../test/command-stage.ts";
import { Store } from "../../test/store-operator.ts";
import { saveLiveCluster } from "../live/live-cluster.ts";
import { loadOperators } from "../operators/operator-modules.ts";
import { type RehearseCommandOptions, rehearseFromCommandLine } from "./rehearse-command.ts";

const moduleOf = (name: string) => fileURLToPath(new URL(`../../test/${name}.ts`, import.meta.url));
const [present, next, greeting] = ["store-operator", "next-store-operator", "greeting-operator"].map(moduleOf) as [
  string,
  string,
  string,
];

async function rehearsed(options: RehearseCommandOptions, flags: Record<string, string> = {}) {
  const [printed, progress]: [string[], string[]] = [[], []];
  const found = await rehearseFromCommandLine(options, {
    flags: new Map(Object.entries(flags)),
    env: {},
    print: (text) => void printed.push(text),
    progress: (text) => void progress.push(text),
  });
  return { found, text: printed.join("\n"), progress };
}

test("a live cluster is read, both versions run on its state, and only what the new one does is reported", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig, folder } = stage;
  await client.create(CustomResourceDefinition, Store.crd());
  for (const name of ["a", "b"]) await client.create(Store.new({ metadata: { name, namespace: "default" }, spec: {} }));
  const results = join(folder, "results");
  const options = { fromContext: true, kubeconfig, operator: next, against: present } as const;
  const { found, text, progress } = await rehearsed({ ...options, output: "json", results });
  const { findings } = JSON.parse(text) as Rehearsal;
  assert.equal(found, findings.length);
  assert.match(progress[0]!, /^read \d+ objects with \d+ requests; values of Secrets are replaced$/);
  const written = findings
    .filter(({ type }) => type === "unending")
    .map(({ resource, objects }) => [resource, objects]);
  assert.deepEqual(written, [["stores.test.example.com", ["default/a", "default/b"]]]);
  for (const file of ["rehearsal.json", "junit.xml", "rehearsal.html"])
    assert.ok(existsSync(join(results, file)), file);
  assert.match(readFileSync(join(results, "junit.xml"), "utf8"), /<failure message="unending: /);

  const file = join(folder, "stores.snapshot");
  const operators = await loadOperators([present]);
  const source = { kubeconfig, operators, settings: { flags: new Map<string, string>(), env: {} } };
  const [first] = await saveLiveCluster(source, file);
  assert.match(first!, /stores\.snapshot has \d+ objects, read with \d+ requests; values of Secrets are replaced$/);
  const quiet = await rehearsed({ state: file, operator: present, against: present, explore: 1 });
  assert.equal(quiet.found, 0);
  assert.match(
    quiet.text,
    /2 crashes of the new version tried\n[\s\S]*store-operator, rehearsed on \d+ objects: nothing changes/,
  );
});

test("the role that is printed is for what the operator works on", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  await client.create(CustomResourceDefinition, Store.crd());
  const { text } = await rehearsed({ fromContext: true, kubeconfig, operator: present, printRole: true });
  assert.match(text, /kind: ServiceAccount[\s\S]*- statefulsets[\s\S]*- stores[\s\S]*- list/);
  assert.doesNotMatch(text, /daemonsets|- get|- watch/);
});

test("what is wrong with the options is reported with what to do", async () => {
  await using stage = await commandStage();
  const { kubeconfig } = stage;
  const refused = async (options: RehearseCommandOptions, problem: RegExp, flags: Record<string, string> = {}) => {
    await assert.rejects(rehearsed(options, flags), { name: "UsageError", message: problem });
  };
  await refused({ operator: present }, /^pass either --from-context, to read a live cluster, or --state FILE$/);
  await refused(
    { operator: present, state: present },
    /^--state .*store-operator\.ts cannot be read: .* is no snapshot/,
  );
  await refused({ operator: present, state: "none.snapshot" }, /^--state none\.snapshot cannot be read: /);
  await refused({ operator: present, state: present, printRole: true }, /^--print-role is for --from-context/);
  await refused({ fromContext: "none", kubeconfig, operator: present }, /there is no context none; contexts: /);
  await refused(
    { fromContext: true, kubeconfig, operator: present },
    /^this cluster serves none of the operator's kinds \(stores\.test\.example\.com\): choose another context$/,
  );
  await refused({ state: "x", operator: greeting }, /^unknown option --words: these operators have --word; /, {
    words: "Hi",
  });
});

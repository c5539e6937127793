import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { operators } from "@konverge/operators";
import type { Exploration } from "@konverge/testing";
import { UsageError } from "../usage-error.ts";
import { codeVersion, filesIn } from "./code-version.ts";
import { exploreFromCommandLine } from "./explore-command.ts";
import { objectsFor } from "./explored-objects.ts";

const options = { command: "true", depth: 1, seed: 1, findings: 10, workers: 1 } as const;
const silent = { loaded: new Set<string>(), print: () => {}, progress: () => {} };

test("what is wrong with the options is reported before anything is started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-explore-"));
  try {
    const scenario = join(folder, "story.yaml");
    const refused = (more: object, problem: RegExp) =>
      assert.rejects(exploreFromCommandLine({ ...options, scenario, ...more }, silent), (error: unknown) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, problem);
        return true;
      });
    await refused(
      { command: undefined },
      /^pass either a module, or --scenario and one of --go, --wasm and --command$/,
    );
    const module = join(folder, "none.ts");
    await refused({ module, command: undefined, scenario: undefined }, /none\.ts: there is no such module$/);
    await refused({}, /^--scenario .*story\.yaml: there is no such file$/);
    writeFileSync(scenario, "steps: none\n");
    await refused({}, /story\.yaml:1:8: steps: must be a list$/);
    writeFileSync(scenario, "steps:\n- pause: 1ms\n");
    await refused({ faults: "crash,flood" }, /^--faults flood: there are crash, stale, error/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a module's scenario is explored in this process, and what is found is printed and written", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-explore-"));
  try {
    const module = join(folder, "scenario.mjs");
    writeFileSync(module, "export default async () => { throw new Error('it is not so'); };\n");
    const printed: string[] = [];
    const world = { ...silent, print: (text: string) => void printed.push(text) };
    const { command: _, ...rest } = options;
    assert.equal(await exploreFromCommandLine({ ...rest, module, results: join(folder, "results") }, world), 1);
    assert.match(printed.join("\n"), /^scenario: it is not so\n/);
    assert.match(readFileSync(join(folder, "results", "junit.xml"), "utf8"), /<failure message="it is not so">/);
    writeFileSync(join(folder, "other.mjs"), "export const scenario = 1;\n");
    const other = exploreFromCommandLine({ ...rest, module: join(folder, "other.mjs") }, world);
    await assert.rejects(other, UsageError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("several processes try together what one tries, and report what stops them", async () => {
  const module = join(import.meta.dirname, "../../test/greeting-operator.ts");
  const explored = async (workers: number) => {
    const printed: string[] = [];
    const world = { ...silent, print: (text: string) => void printed.push(text) };
    const given = {
      depth: 1,
      seed: 1,
      findings: 10,
      faults: "crash,deletion",
      output: "json",
      workers,
      module,
    } as const;
    assert.equal(await exploreFromCommandLine(given, world), 0);
    return JSON.parse(printed.join("\n")) as Exploration;
  };
  const [one, two] = [await explored(1), await explored(2)];
  assert.deepEqual(two.tried, one.tried);
  assert.equal(two.points, one.points);
  const { command: _, ...rest } = options;
  const none = exploreFromCommandLine({ ...rest, workers: 2, module: "none.ts" }, silent);
  await assert.rejects(none, new UsageError("none.ts: there is no such module"));
});

test("on virtual time, too, only the named faults are tried, and no more than a number of them", async () => {
  const module = join(import.meta.dirname, "../../test/greeting-operator.ts");
  const printed: string[] = [];
  const world = { ...silent, print: (text: string) => void printed.push(text) };
  const chosen = { faults: "crash,deletion", only: "crash before the request", points: 1 };
  const given = { depth: 1, seed: 1, findings: 10, output: "json", workers: 1, ...chosen, module } as const;
  await exploreFromCommandLine(given, world);
  // One in each of its two scenarios.
  assert.deepEqual((JSON.parse(printed.join("\n")) as Exploration).tried, { crash: 2 });
});

test("what passed counts until a module or a file of the command changes", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-explore-"));
  try {
    const [module, program] = [join(folder, "a.mjs"), join(folder, "manager")];
    const version = () =>
      codeVersion([pathToFileURL(module).href, "node:fs"], filesIn(`exec '${program}' --port=1 none`));
    writeFileSync(module, "1");
    writeFileSync(program, "1");
    const first = version();
    assert.equal(version(), first);
    writeFileSync(program, "2");
    const second = version();
    assert.notEqual(second, first);
    writeFileSync(module, "2");
    assert.notEqual(version(), second);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an operator is explored with the samples of its project, or with the objects that are named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-explore-"));
  try {
    const named = join(folder, "objects.yaml");
    writeFileSync(named, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n");
    const seldonOperator = operators.find(({ name }) => name === "seldon-operator")!;
    const module = join(import.meta.dirname, "../../../../operators/seldon/src/operator.ts");
    const own = objectsFor(seldonOperator, module);
    assert.match(own?.from ?? "", /seldon.samples$/);
    assert.deepEqual(
      own?.objects.map((object) => (object as { kind: string }).kind),
      ["SeldonDeployment"],
    );
    assert.deepEqual(objectsFor(seldonOperator, module, folder)?.objects, [
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
    ]);
    assert.equal(objectsFor(seldonOperator, join(folder, "operator.ts")), undefined);
    assert.throws(() => objectsFor(seldonOperator, module, join(folder, "none")), UsageError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

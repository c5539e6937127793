import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../test/command-stage.ts";
import { ConsoleVisit } from "../../test/console-visit.ts";
import { projectStage } from "../../test/project-stage.ts";
import { dev } from "./dev.ts";
import { OperatorLog, problemText } from "./operator-log.ts";

test("a project runs with its samples, its time can be changed in the console, edits take effect, and what fails is shown with its place until it is fixed", async (t) => {
  using project = projectStage();
  const { folder } = project;
  process.env["KONVERGE_HOME"] = join(folder, "home");
  t.after(() => delete process.env["KONVERGE_HOME"]);
  const output: string[] = [];
  const screen = { write: (text: string) => void output.push(text) };
  const printed = (pattern: RegExp) =>
    until(`it prints ${pattern}`, () => pattern.test(output.join(""))).catch((error: unknown) => {
      throw new Error(output.join(""), { cause: error });
    });
  const stop = new AbortController();
  const options = {
    name: "dev-test",
    kubeconfig: ".konverge/kubeconfig",
    nodes: 0,
    gpus: "none",
    samples: "samples",
    console: true,
    permissions: "auto" as const,
  };
  // A file that cannot be loaded is shown, and the next save is tried.
  const source = project.read("src/cache.ts");
  project.write("src/cache.ts", source.replace("const child =", "const child = ="));
  const running = dev([join(folder, "src/operator.ts")], options, { folder, env: {}, stop: stop.signal, screen });
  try {
    await printed(/Cluster dev-test is ready at https:\/\/127\.0\.0\.1:\d+[\s\S]*See it in the browser:\n {2}http/);
    const [, link = ""] = /See it in the browser:\n {2}(\S+)/.exec(output.join("")) ?? [];
    const visit = await ConsoleVisit.open(link);
    for (const speed of [2, 1]) assert.deepEqual(await visit.control({ action: "speed", speed }), { status: 200 });
    await printed(/error +src\/operator\.ts cannot be loaded: src\/cache\.ts:26:\d+: Expression expected/);
    project.write("src/cache.ts", source);
    await printed(/converged +Cache default\/sample: Resource is Ready/);
    await printed(/cache\S* +apply ConfigMap default\/cache-sample/);

    project.write(
      "src/cache.ts",
      source.replace("const child =", 'if (spec.text === "bad") throw new Error("no bad texts");\n    const child ='),
    );
    await printed(/a new version is running/);
    project.write("samples/cache.yaml", project.read("samples/cache.yaml").replace("hello", "bad"));
    await printed(/error +src\/cache\.ts:26:\d+: \S+ default\/sample: no bad texts/);
    project.write("samples/cache.yaml", project.read("samples/cache.yaml").replace("text: bad", "text: 5"));
    await printed(/error +samples\/cache\.yaml: .*spec\.text: expected string/);
    const before = output.length;
    project.write("samples/cache.yaml", project.read("samples/cache.yaml").replace("text: 5", "text: good"));
    await until("the child is applied again", () => /apply ConfigMap/.test(output.slice(before).join("")));
  } finally {
    stop.abort();
    await running;
  }
});

test("on a terminal problems are listed, and go when the object is reconciled", () => {
  const told: string[] = [];
  const log = new OperatorLog("/app", (who, text) => void told.push(`${who}: ${text}`));
  const stack =
    "Error: no\n    at f (file:///app/node_modules/x/y.js:1:1)\n    at g (file:///app/src/a.ts?konverge-version=2:3:4)";
  const line = {
    level: "error",
    controller: "things",
    object: "default/a",
    outcome: "transient",
    msg: "no",
    err: { message: "no", stack },
  };
  log.write(`${JSON.stringify(line)}\n${JSON.stringify(line)}\n`);
  assert.deepEqual(log.problems, ["src/a.ts:3:4: things default/a: no"]);
  assert.deepEqual(told, ["error: src/a.ts:3:4: things default/a: no"]);
  log.write(
    `${JSON.stringify({ level: "debug", controller: "things", object: "default/a", outcome: "done", writes: ["apply A b"] })}\n`,
  );
  assert.deepEqual(log.problems, []);
  assert.deepEqual(log.activities, [{ operator: "things", reconciles: 3, writes: 1, last: "apply A b" }]);
});

test("an error without a place in the project is told as it is", () => {
  assert.equal(problemText(new Error("plain"), "/nowhere"), "plain");
  assert.equal(problemText("text", "/nowhere"), "text");
});

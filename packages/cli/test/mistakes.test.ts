// What an author does wrong between the first hour and production. Each mistake is made with the command, and its message has to be
// one that the guide's page about troubleshooting explains.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CustomResourceDefinition } from "@konverge/kinds";
import { Mistake, OwningMistake, SharedMistake } from "./careless-operator.ts";
import { type CommandStage, commandStage, until } from "./command-stage.ts";
import { startKonverge } from "./started-konverge.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const MODULE = path("./careless-operator.ts");
const PAGE = path("../../../docs/guide/troubleshooting.md");
const NOWHERE = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];

/** Messages as the page has them: each part in backquotes of the first cell of a row. */
const documented = [...readFileSync(PAGE, "utf8").matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, message = ""]) => message),
);

/** What the page has as an example: an object, a file, a path of a field, a value, a number. */
const EXAMPLES =
  /…|\bDeployment\b|Widget default\/w|src\/widget\.ts:12:3|\/data\/at|\/status\/text|"[^"]*"|\d+(?:\.\d+)?/;

function pattern(message: string): RegExp {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(message.split(EXAMPLES).map(literal).join("[\\s\\S]*?"));
}

/** The message has a row in the page, which begins like this. */
function assertDocumented(message: string, row: string) {
  const found = documented.filter((one) => one.includes(row));
  assert.equal(found.length, 1, `the page has no row ${row}, or several`);
  assert.match(message, pattern(found[0]!));
}

describe("mistakes in a project and its surroundings", () => {
  let stage: CommandStage;
  before(async () => {
    stage = await commandStage();
  });
  after(() => stage[Symbol.asyncDispose]());

  const refused = async (...words: string[]) => {
    const run = startKonverge(["run", MODULE, ...words]);
    assert.deepEqual(await run.ended, [1, null], run.output());
    assert.doesNotMatch(run.output(), /^\s+at /m);
    return run.output();
  };

  test("CustomResourceDefinitions that are not installed", async () => {
    const output = await refused("--kubeconfig", stage.kubeconfig, ...NOWHERE);
    assertDocumented(output, "the cluster does not know these kinds");
    assert.match(output, /Mistake \(mistakes\.test\.example\.com\)[\s\S]*konverge install/);
  });

  test("a kubeconfig that is not there, and one of a cluster that does not run", async () => {
    assertDocumented(await refused("--kubeconfig", join(stage.folder, "none")), "there is no such file");
    const gone = createServer().listen(0, "127.0.0.1");
    await once(gone, "listening");
    const { port } = gone.address() as AddressInfo;
    gone.close();
    const config = readFileSync(stage.kubeconfig, "utf8").replace(/(server: "?https:\/\/[^:]+):\d+/, `$1:${port}`);

    writeFileSync(join(stage.folder, "stopped"), config);
    const output = await refused("--kubeconfig", join(stage.folder, "stopped"));
    assertDocumented(output, "the API server does not answer");
  });

  test("a port that another process has", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    try {
      const { port } = other.address() as AddressInfo;
      const where = ["--kubeconfig", stage.kubeconfig, "--install", "--health-probe-bind-address=0"];
      const output = await refused(...where, `--metrics-bind-address=127.0.0.1:${port}`);
      assertDocumented(output, "in use by another process");
    } finally {
      other.close();
    }
  });
});

describe("mistakes in a reconcile", () => {
  let stage: CommandStage;
  let run: ReturnType<typeof startKonverge>;
  before(async () => {
    stage = await commandStage();
    run = startKonverge(["run", MODULE, "--install", "--kubeconfig", stage.kubeconfig, ...NOWHERE]);
    await until("it is at work", () => run.output().includes('"at work"'));
    await until("its kinds are served", async () => Boolean(await stage.client.list(CustomResourceDefinition)));
  });
  after(async () => {
    run.child.kill("SIGKILL");
    await run.ended;
    await stage[Symbol.asyncDispose]();
  });

  const make = (
    which: Mistake["spec"]["which"],
    kind: typeof Mistake | typeof OwningMistake | typeof SharedMistake = Mistake,
  ) =>
    stage.client.create(
      kind as typeof Mistake,
      kind.new({ metadata: { name: which.replaceAll(" ", "-"), namespace: "default" }, spec: { which } }) as Mistake,
    );
  /** The first line of the log that has this. */
  const reported = async (text: string) => {
    const lines = () => run.output().split("\n");
    await until(`it reports: ${text}`, () => lines().some((line) => line.includes(text))).catch((error: unknown) => {
      throw new Error(lines().slice(-3).join("\n"), { cause: error });
    });
    const line = lines().find((one) => one.includes(text))!;
    return JSON.parse(line) as { msg: string; controller?: string; err?: { message: string } };
  };
  const textOf = ({ msg, err }: { msg: string; err?: { message: string } }) => `${msg}: ${err?.message ?? ""}`;

  test("a permission that is not declared: the generated role forbids it, and the line to add is printed", async () => {
    await make("undeclared permission");
    const line = textOf(await reported("does not declare this"));
    assertDocumented(line, "the controller does not declare this");
    assert.match(
      line,
      /careless-operator-run" cannot list resource "statefulsets" .*add permissions: \[permission\(StatefulSet, \["list"\]\)\]/,
    );
  });

  test("a child whose kind is not in owns", async () => {
    await make("missing owns");
    assertDocumented(textOf(await reported("is not in owns")), "which is not in owns");
  });

  test("a status that changes with each reconcile", async () => {
    await make("loop in the status");
    const { msg } = await reported("each reconcile writes Mistake");
    assertDocumented(msg, "each reconcile writes");
    assert.match(msg, /default\/loop-in-the-status was reconciled .* with \/status\/text first "\d+", then "\d+"/);
  });

  test("a child that changes with each reconcile", async () => {
    await make("loop in a child", OwningMistake);
    const { msg } = await reported("each reconcile writes Deployment");
    assertDocumented(msg, "each reconcile writes");
    assert.match(msg, /default\/loop-in-a-child .* with \/metadata\/annotations\/at first "\d+", then "\d+"/);
  });

  test("two operators that reconcile one kind", async () => {
    await make("two operators", SharedMistake);
    const { msg } = await reported("probably two operators reconcile this kind");
    assertDocumented(msg, "probably two operators reconcile this kind");
    assert.match(msg, /\/status\/text is set to "(mine|yours)" here, and to "(mine|yours)" elsewhere/);
  });

  test("a result that can never become Ready", async () => {
    await make("never ready", OwningMistake);
    const { msg } = await reported("cannot become Ready");
    assertDocumented(msg, "cannot become Ready");
    const made = await stage.client.get(OwningMistake, "default/never-ready");
    const ready = made.status?.conditions?.find(({ type }) => type === "Ready");
    assert.deepEqual([ready?.status, ready?.reason], ["Unknown", "ChildrenNotReturned"]);
  });

  test("a promise that no code awaits ends nothing", async () => {
    await make("forgotten await");
    const { msg, controller } = await reported("no code awaits");
    assertDocumented(msg, "a promise that no code awaits was rejected");
    assert.equal(controller, "mistakes.test.example.com");
    assert.match(
      msg,
      /^a promise that no code awaits was rejected, at .*careless-operator\.ts:\d+:9, in a reconcile of Mistake default\/forgotten-await: the disk is full\. Await it, or catch its error/,
    );
  });

  test("a computation that blocks the event loop", async () => {
    await make("blocked event loop");
    const { msg } = await reported("event loop was blocked");
    assertDocumented(msg, "the event loop was blocked");
    assert.match(msg, /^the event loop was blocked for [2-9]\.\d s, in a reconcile of Mistake .*worker thread/);
  });

  test("none of them ends the process", async () => {
    run.child.kill("SIGINT");
    assert.deepEqual(await run.ended, [0, null], run.output());
  });
});

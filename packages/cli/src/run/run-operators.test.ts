import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realClock } from "@konverge/core";
import {
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Lease,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { commandStage, until } from "../../test/command-stage.ts";
import { Greeting, greetingOperator } from "../../test/greeting-operator.ts";
import { deploy } from "../deploy/deploy.ts";
import { install } from "../deploy/install.ts";
import { replayFile } from "../replay/replay-recording.ts";
import { runCommand } from "./run-command.ts";
import { type RunWorld, runOperators } from "./run-operators.ts";

const MODULE = fileURLToPath(new URL("../../test/greeting-operator.ts", import.meta.url));
const CRD = "greetings.test.example.com";
const NOWHERE = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];

/** Runs the command as a process would, and returns what it wrote and how to end it. */
function started(args: readonly string[], env: RunWorld["env"] = {}) {
  const lines: string[] = [];
  const stop = new AbortController();
  const ready = Promise.withResolvers<Parameters<NonNullable<RunWorld["ready"]>>[0]>();
  const world: RunWorld = {
    env,
    stop: stop.signal,
    write: (text) => lines.push(text),
    ready: (process) => ready.resolve(process),
  };
  const done = runCommand(() => world)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync([...args], { from: "user" });
  done.catch((error: unknown) => ready.reject(error));
  ready.promise.catch(() => {});
  const end = () => {
    stop.abort();
    return done;
  };
  return { lines, ready: ready.promise, end, done };
}

const silently = { namespace: "default", tell: () => {} };
const hello = (name: string, namespace = "default") =>
  Greeting.new({ metadata: { name, namespace }, spec: { to: "you" } });

test("operators of a module run on the cluster of a kubeconfig until they are stopped", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  const { lines, ready, end } = started([
    MODULE,
    "--install",
    "--log-level=debug",
    "--kubeconfig",
    kubeconfig,
    "--word=Ahoy",
    "--metrics-bind-address=127.0.0.1:0",
    "--health-probe-bind-address=127.0.0.1:0",
  ]);
  const { ports } = await ready;
  await client.create(Greeting, hello("one"));
  await until("it is greeted", async () => (await client.get(ConfigMap, "default/one")).data?.["said"] === "Ahoy, you");
  const [port] = ports.values();
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text(), "ok\n");
  assert.match(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), /controller_runtime_reconcile_total/);
  await end();
  assert.match(lines.join(""), /reconcile done/);
  assert.match(lines.at(-1)!, /"stopped"/);
  await client.create(Greeting, hello("late"));
  await assert.rejects(client.get(ConfigMap, "default/late"), /not found/);
});

test("only the namespaces that are named are looked after, by the one that leads", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  await install([greetingOperator], client, silently);
  const args = [MODULE, "--kubeconfig", kubeconfig, "--namespace", "kube-public", "--leader-elect", ...NOWHERE];
  const first = started(args, { POD_NAME: "first" });
  await first.ready;
  await until("the first leads", async () => {
    const { spec } = await client.get(Lease, "default/greeting-operator");
    return spec?.holderIdentity === "first";
  });
  const second = started(args, { POD_NAME: "second", GREETING_WORD: "Servus" });
  await second.ready;
  await client.create(Greeting, hello("outside"));
  await client.create(Greeting, hello("inside", "kube-public"));
  await until("what is inside is greeted", async () => Boolean(await client.get(ConfigMap, "kube-public/inside")));
  await assert.rejects(client.get(ConfigMap, "default/outside"), /not found/);
  await first.end();
  await client.create(Greeting, hello("next", "kube-public"));
  await until("the second has taken over", async () => {
    const { data } = await client.get(ConfigMap, "kube-public/next");
    return data?.["said"] === "Servus, you";
  });
  await second.end();
});

test("webhooks are served to an API server that reaches this machine", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  const args = [MODULE, "--install", "--kubeconfig", kubeconfig, "--webhook-host=127.0.0.1", "--webhook-port=0"];
  const { ready, end } = started([...args, ...NOWHERE]);
  await ready;
  const nobody = Greeting.new({ metadata: { name: "n", namespace: "default" }, spec: { to: "nobody" } });
  await assert.rejects(client.create(Greeting, nobody), /spec.to: Invalid value: "nobody": must be somebody/);
  await client.create(Greeting, hello("one"));
  await client.get(Greeting.atVersion("v1alpha1"), "default/one");
  const { webhooks } = await client.get(ValidatingWebhookConfiguration, "greeting-operator");
  const port = Number(new URL(webhooks?.[0]?.clientConfig.url ?? "").port);
  assert.deepEqual([await isListening("127.0.0.1", port), await isListening("127.0.0.2", port)], [true, false]);
  await end();
  // Without the process, nothing asks it any more.
  await client.create(Greeting, nobody);
  await assert.rejects(client.get(ValidatingWebhookConfiguration, "greeting-operator"), /not found/);
  const { metadata, spec } = await client.get(CustomResourceDefinition, CRD);
  assert.equal(spec.conversion?.strategy, "None");
  assert.equal(metadata.annotations?.["konverge.dev/development-run"], undefined);
  assert.deepEqual(
    spec.versions.filter(({ served }) => served).map(({ name }) => name),
    ["v1"],
  );
  const again = started([...args.filter((arg) => arg !== "--install"), ...NOWHERE]);
  await again.ready;
  await again.end();
  assert.match(
    again.lines.join(""),
    /greetings\.test\.example\.com does not serve v1alpha1: --install serves them again/,
  );
});

test("a kind whose operator is deployed converts at its Service again when a development run ends", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  const deployed = { ...silently, image: "example.com/greetings:1", noWait: true };
  await deploy([greetingOperator], client, deployed);
  const args = [MODULE, "--kubeconfig", kubeconfig, "--webhook-host=127.0.0.1", "--webhook-port=0", ...NOWHERE];
  const { ready, end } = started(args);
  await ready;
  await end();
  const { spec } = await client.get(CustomResourceDefinition, CRD);
  assert.equal(spec.conversion?.webhook?.clientConfig?.service?.name, "greeting-operator");
  assert.ok(spec.versions.every(({ served }) => served));
  const { metadata, webhooks = [] } = await client.get(ValidatingWebhookConfiguration, "greeting-operator");
  assert.deepEqual(
    webhooks.map(({ clientConfig }) => clientConfig.service?.path),
    ["/validate/greetings.test.example.com"],
    "the deployed operator may not create it again",
  );
  assert.equal(metadata.annotations?.["konverge.dev/development-run"], undefined);
});

test("kinds of several versions can be installed and deployed again while a development run converts them", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig, folder } = stage;
  const file = join(folder, "operator.ts");
  const version = (number: number) =>
    writeFileSync(file, `export { greetingOperator } from ${JSON.stringify(MODULE)}; // ${number}\n`);
  version(1);
  const args = [file, "--watch", "--install", "--kubeconfig", kubeconfig];
  const { ready, end, lines } = started([...args, "--webhook-host=127.0.0.1", "--webhook-port=0", ...NOWHERE]);
  await ready;
  await client.create(Greeting, hello("one"));
  const old = async () => (await client.get(Greeting.atVersion("v1alpha1"), "default/one")).spec.whom;
  await until("the other version is served", async () => (await old()) === "you");
  const conversion = async () =>
    (await client.get(CustomResourceDefinition, CRD)).spec.conversion?.webhook?.clientConfig;
  await install([greetingOperator], client, silently);
  assert.match((await conversion())?.url ?? "", /^https:\/\/127\.0\.0\.1:/);
  assert.equal(await old(), "you");
  version(2);
  await until("the next version runs", () => lines.join("").includes("a new version is running"));
  assert.equal(await old(), "you");
  const image = "example.com/greetings:1";
  await deploy([greetingOperator], client, { ...silently, image, dryRun: true });
  await end();
});

test("a deployed operator gets its webhooks at its Service, also where a development run had registered a URL", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  await install([greetingOperator], client, { ...silently, converted: true });
  const url = "https://127.0.0.1:1/convert";
  const webhook = { clientConfig: { url, service: null, caBundle: null }, conversionReviewVersions: ["v1"] };
  await client.patch(CustomResourceDefinition, CRD, {
    merge: { spec: { conversion: { strategy: "Webhook", webhook } } } as never,
  });
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name: "greeting-operator" },
    webhooks: [
      {
        name: "validate.greetings.test.example.com",
        clientConfig: { url },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  await deploy([greetingOperator], client, { ...silently, image: "example.com/greetings:1", noWait: true });
  const { spec } = await client.get(CustomResourceDefinition, CRD);
  assert.equal(spec.conversion?.webhook?.clientConfig?.url, undefined);
  assert.equal(spec.conversion?.webhook?.clientConfig?.service?.name, "greeting-operator");
  const { webhooks } = await client.get(ValidatingWebhookConfiguration, "greeting-operator");
  assert.deepEqual(
    webhooks?.map(({ clientConfig }) => [clientConfig.url, clientConfig.service?.name]),
    [[undefined, "greeting-operator"]],
  );
});

test("what cannot work says why, and what to do", async () => {
  await using stage = await commandStage();
  const { kubeconfig, folder, client, port } = stage;
  const fails = async (args: readonly string[], why: RegExp, env?: RunWorld["env"]) =>
    assert.rejects(started([...args, ...NOWHERE], env).done, (error: Error) => {
      assert.match(error.message, why);
      return true;
    });
  const here = ["--kubeconfig", kubeconfig];
  await fails(["./no-such-module.ts", ...here], /there is no file \.\/no-such-module\.ts/);
  const empty = join(folder, "empty.ts");
  writeFileSync(empty, "export const nothing = 1;\n");
  await fails([empty, ...here], /exports no operator: export what operator\(/);
  const broken = join(folder, "broken.ts");
  writeFileSync(broken, "throw new Error('half done');\n");
  await fails([broken, ...here], /broken\.ts cannot be loaded: .*broken\.ts:1:7: half done/);
  await fails([MODULE, "--kubeconfig", join(folder, "none")], /there is no such file[\s\S]*konverge up/);
  await fails([MODULE, ...here], /does not know these kinds: Greeting[\s\S]*konverge install/);
  await fails([MODULE, ...here, "--wrod=Hi"], /unknown option --wrod: these operators have --word/);
  await fails([MODULE, ...here, "--verbos"], /unknown option --verbos: these operators have --word/);
  await fails([MODULE, ...here, "--word"], /--word needs a value: --word=VALUE/);
  await fails(["greeting-operator", ...here], /no package greeting-operator: .* --operators=greeting-operator/);
  await fails([MODULE, ...here, "--operators=other"], /no operator named other: .* greeting-operator/);
  await fails([MODULE, ...here], /LOG_LEVEL: there is no log level loud/, { LOG_LEVEL: "loud" });
  await install([greetingOperator], client, silently);
  const mere = join(folder, "mere");
  writeFileSync(mere, port.kubeconfig("somebody", []));
  await fails(
    [MODULE, "--kubeconfig", mere],
    /somebody is not allowed to:[\s\S]*watch greetings[\s\S]*konverge manifests/,
  );
  await client.create(ClusterRoleBinding, {
    metadata: { name: "somebody" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "User", name: "somebody", apiGroup: "rbac.authorization.k8s.io" }],
  });
  const allowed = started([MODULE, "--kubeconfig", mere, ...NOWHERE]);
  await allowed.ready;
  await allowed.end();
  const away = join(folder, "away");
  writeFileSync(away, port.kubeconfig().replaceAll(port.url, "https://127.0.0.1:1"));
  await fails([MODULE, "--kubeconfig", away], /the API server does not answer: [\s\S]*Is the cluster running\?/);
});

test("without a module, the project says which operators it has", async () => {
  const { loadOperators } = await import("../operators/operator-modules.ts");
  await using stage = await commandStage({ parts: [] });
  writeFileSync(join(stage.folder, "package.json"), '{"type":"module","konverge":{"operators":"./all.ts"}}');
  writeFileSync(join(stage.folder, "all.ts"), `export { greetingOperator } from ${JSON.stringify(MODULE)};\n`);
  assert.deepEqual(await loadOperators([], stage.folder), [greetingOperator]);
});

test("a changed module is restarted; a broken one leaves the old version running", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig, folder } = stage;
  const [file, word] = [join(folder, "operator.ts"), join(folder, "word.ts")];
  writeFileSync(word, 'export const word = "One";');
  writeFileSync(
    file,
    `import { greetingOperator } from ${JSON.stringify(MODULE)};
import { word } from "./word.ts";
export const own = { ...greetingOperator, create: (context: object) => greetingOperator.create({ ...context, settings: { word } } as never) };
`,
  );
  const said = async () => (await client.get(ConfigMap, "default/one")).data?.["said"];
  const { ready, end, lines } = started([file, "--watch", "--install", "--kubeconfig", kubeconfig, ...NOWHERE]);
  await ready;
  await client.create(Greeting, hello("one"));
  await until("the first version greets", async () => (await said()) === "One, you");
  writeFileSync(word, "\nexport const word = ;");
  await until("the mistake is told", () =>
    /the previous one keeps running: .*word\.ts:2:21: Expression/.test(lines.join("")),
  );
  await client.create(Greeting, hello("two"));
  await until("the first version still works", async () => Boolean(await client.get(ConfigMap, "default/two")));
  writeFileSync(word, 'export const word = "Two";');
  await until("the next version greets", async () => (await said()) === "Two, you");
  await end();
});

test("a port that is taken is named", async () => {
  await using stage = await commandStage();
  const { port } = stage.port;
  const options = { webhooks: "off" as const, webhookPort: 0, kubeconfig: stage.kubeconfig, install: true };
  const metricsBindAddress = { host: "127.0.0.1", port };
  const world = { env: {}, stop: new AbortController().signal, write: () => {}, clock: realClock() };
  await assert.rejects(
    runOperators([MODULE], { ...options, metricsBindAddress }, world),
    /port \d+ is in use by another process: choose another with --metrics-bind-address/,
  );
});

test("what it does is recorded on request, and the same operator would do the same", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  const file = join(stage.folder, "reconciles.jsonl");
  const { ready, end } = started([
    MODULE,
    "--install",
    "--kubeconfig",
    kubeconfig,
    "--record",
    file,
    "--word=Ahoy",
    ...NOWHERE,
  ]);
  await ready;
  await client.create(Greeting, hello("recorded"));
  await until("it is greeted", async () => {
    return (await client.get(ConfigMap, "default/recorded")).data?.["said"] === "Ahoy, you";
  });
  await end();
  const lines: string[] = [];
  const world = (word: string) => ({
    flags: new Map([["word", word]]),
    env: {},
    tell: (line: string) => void lines.push(line),
  });
  const same = await replayFile(file, [greetingOperator], {}, world("Ahoy"));
  assert.ok(same.same > 0);
  assert.equal(same.different, 0, lines.join("\n"));
  const other = await replayFile(file, [greetingOperator], {}, world("Hi"));
  assert.ok(other.different > 0);
  assert.match(lines.join("\n"), /"Ahoy, you" → "Hi, you"/);
});

function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

// From an empty folder to a packaged operator, as a user goes, with the packed packages: each step builds on those before.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, describe } from "node:test";
import { connect } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Deployment, Lease } from "@konverge/kinds";
import { findPeer, PEERS, type RunningProgram } from "@konverge/peers";
import { NewProject } from "./new-project.ts";
import { orderedTests } from "./ordered-tests.ts";
import { SERVERS, type Server, until } from "./servers.ts";

const NAME = "cache-operator";
const IMAGE = `registry.example.com/${NAME}:v1`;
const CACHES: KindRef<Cache> = {
  ...{ group: "example.com", version: "v1alpha1", kind: "Cache", plural: "caches", namespaced: true },
};
const NEW_CACHES: KindRef<Cache> = { ...CACHES, version: "v1beta1" };
interface Cache extends KubeObject {
  spec: { text?: string; message?: string };
  status?: { text?: string; observedGeneration?: number };
}

const helm = findPeer(PEERS.find(({ name }) => name === "helm")!);
const project = new NewProject(NAME);
const servers = new Map<string, Server>();

describe("from an empty folder to a packaged operator", { timeout: 20 * 60_000 }, () => {
  after(async () => {
    for (const server of servers.values()) await server[Symbol.asyncDispose]();
    await project[Symbol.asyncDispose]();
  });
  const step = orderedTests();

  step("npm create konverge makes a project whose only dependencies are Konverge and types", async () => {
    assert.match(await project.create("--kind", "Cache"), /cache-operator is ready\. Next:/);
    const { dependencies, devDependencies } = JSON.parse(project.read("package.json")) as Record<string, object>;
    assert.deepEqual(Object.keys(dependencies!), ["konverge"]);
    assert.deepEqual(Object.keys(devDependencies!), ["@konverge/dev", "@types/node", "typescript"]);
  });

  step("npm start shows a converged object", async () => {
    assert.match(await npm("start"), /Cache sample has converged/);
  });

  step("npm test and konverge explore find nothing wrong with what was made", async () => {
    assert.match(await npm("test"), /pass 2\b[\s\S]*fail 0\b/);
    assert.match(await project.konverge("explore", "src/operator.ts"), /^no findings, /m);
  });

  step("create api adds a kind, and keeps what was changed by hand when it is repeated", async () => {
    const api = ["create", "api", "--group", "ml", "--version", "v1alpha1", "--kind", "TrainingJob"];
    assert.match(await project.konverge(...api), /src\/training-job\.ts written/);
    project.edit("src/training-job.ts", "/** The kind:", "// by hand\n/** The kind:");
    assert.match(await project.konverge(...api), /src\/training-job\.ts kept/);
    assert.match(project.read("src/training-job.ts"), /^\/\/ by hand$/m);
  });

  step("after an edit of the reconcile and its test, type check, lint and tests pass", async () => {
    project.edit("src/cache.ts", "data: { text: spec.text }", "data: { text: spec.text.toUpperCase() }");
    project.edit("src/cache.test.ts", '?.data?.text === "hello"', '?.data?.text === "HELLO"');
    await npm("run", "check");
    await lint();
    assert.match(await npm("test"), /pass 4\b[\s\S]*fail 0\b/);
  });

  step("konverge dev applies the samples, and an edit takes effect while it runs", async () => {
    const dev = project.start("konverge", "dev", "--no-console", "--name", `dev-${process.pid}`);
    const kubeconfig = join(project.folder, ".konverge", "kubeconfig");
    await until(
      "it is ready",
      () => /End it with Ctrl-C/.test(dev.output),
      () => dev.output,
    );
    await using client = await connect({ kubeconfig });
    const text = async () => (await client.get(ConfigMap, "default/cache-sample")).data?.["text"];
    await until(
      "the sample has its ConfigMap",
      async () => (await text()) === "HELLO",
      () => dev.output,
    );
    project.edit("src/cache.ts", "spec.text.toUpperCase()", "`$" + "{spec.text}!`");
    await until(
      "the edit takes effect",
      async () => (await text()) === "hello!",
      () => dev.output,
    );
    project.edit("src/cache.ts", "`$" + "{spec.text}!`", "spec.text.toUpperCase()");
    await until(
      "the next one does, too",
      async () => (await text()) === "HELLO",
      () => dev.output,
    );
    assert.equal(await dev.kill("SIGINT"), 0, dev.output);
    assert.ok(!existsSync(kubeconfig), "its kubeconfig is removed");
  });

  step("konverge manifests writes config/, and --check then finds it up to date", async () => {
    const options = ["manifests", "--image", IMAGE, "--namespace", "caches"];
    assert.match(await project.konverge(...options), /config\/cache-operator\/deployment\.yaml written/);
    assert.match(await project.konverge(...options, "--check"), /config is up to date/);
  });

  for (const { title, missing, start } of SERVERS) {
    const server = () => servers.get(title)!;
    step(
      `install serves the kinds, and does nothing the second time, ${title}`,
      async () => {
        servers.set(title, await start(project, IMAGE));
        const where = ["--kubeconfig", server().kubeconfig];
        assert.match(await project.konverge("install", ...where), /caches\.example\.com created/);
        assert.match(await project.konverge("install", ...where), /caches\.example\.com unchanged/);
      },
      missing,
    );
    step(
      `run makes the sample converge, ${title}`,
      async () => {
        const run = await running(server());
        await server().client.apply(CACHES, cache("old", { text: "hello" }), { fieldManager: "test" });
        await hasText(server(), "old", "HELLO", run);
        assert.equal(await run.kill("SIGINT"), 0, run.output);
      },
      missing,
    );
  }

  step(
    "create version adds a version; with a renamed field and its conversion, type check, lint and tests pass",
    async () => {
      await project.konverge("create", "version", "--kind", "Cache", "--version", "v1beta1");
      project.edit("src/cache-v1beta1.ts", "text: z.string().min(1)", "message: z.string().min(1)");
      project.edit("src/cache-v1beta1.ts", ".spec.text", ".spec.message");
      const [toStored, fromStored] = ["toStored", "fromStored"].map(
        (way) => `${way}: ({ spec, status }) => ({ spec, status })`,
      );
      project.edit(
        "src/cache.ts",
        toStored!,
        "toStored: ({ spec, status }) => ({ spec: { text: spec.message }, status })",
      );
      project.edit(
        "src/cache.ts",
        fromStored!,
        "fromStored: ({ spec, status }) => ({ spec: { message: spec.text }, status })",
      );
      await npm("run", "check");
      await lint();
      await tested("src/cache-conversion.test.ts");
    },
  );

  step("create webhook adds an admission webhook that passes type check, lint and its tests", async () => {
    await project.konverge("create", "webhook", "--kind", "Cache");
    await npm("run", "check");
    await lint();
    await tested("src/cache-admission.test.ts");
  });

  for (const { title, missing } of SERVERS) {
    const server = () => servers.get(title)!;
    step(
      `the API server converts between the versions, and asks the admission webhook, ${title}`,
      async () => {
        const { client } = server();
        const run = await running(server(), "--install", "--webhook-host", "127.0.0.1", "--webhook-port", "0");
        await until("the new version is served", async () => {
          return (await client.get(NEW_CACHES, "default/old")).spec.message === "hello";
        });
        await client.create(NEW_CACHES, cache("new", { message: "bye" }, "v1beta1"));
        assert.deepEqual((await client.get(CACHES, "default/new")).spec, { text: "bye" });
        assert.ok((await client.get(CACHES, "default/new")).metadata.annotations?.["example.com/created-by"]);
        await assert.rejects(
          client.create(NEW_CACHES, cache("n".repeat(51), { message: "long" }, "v1beta1")),
          /must be no more than 50 characters/,
        );
        await hasText(server(), "new", "BYE", run);
        assert.equal(await run.kill("SIGINT"), 0, run.output);
        // Nothing converts any more: what is stored can be read all the same.
        assert.equal((await client.get(CACHES, "default/new")).spec.text, "bye");
        await project.konverge("uninstall", "--force", "--kubeconfig", server().kubeconfig);
      },
      missing,
    );
  }

  step("konverge chart writes a Helm chart, and --check then finds it up to date", async () => {
    assert.match(await project.konverge("chart", "--image", IMAGE), /charts\/cache-operator\/Chart\.yaml written/);
    assert.match(await project.konverge("chart", "--image", IMAGE, "--check"), /charts is up to date/);
  });

  for (const { title, missing } of SERVERS) {
    const server = () => servers.get(title)!;
    const why = missing || (!helm.available && helm.why);
    step(
      `Helm installs the chart, and it is removed again, ${title}`,
      async () => {
        const { client, runsImage } = server();
        const run = (...args: string[]) =>
          project.run(helm.available ? helm.program : "", [...args, "--kubeconfig", server().kubeconfig]);
        const chart = join("charts", NAME);
        assert.match(await run("lint", "--strict", chart), /0 chart\(s\) failed/);
        const release = ["cache", "--namespace", "caches"];
        await run("install", ...release, chart, "--create-namespace", "--wait", "--timeout", "3m");
        assert.equal((await client.get(Deployment, `caches/${NAME}`)).status?.availableReplicas, 1);
        if (runsImage) {
          await client.create(NEW_CACHES, cache("charted", { message: "chart" }, "v1beta1"));
          await hasText(server(), "charted", "CHART");
        }
        await run("uninstall", ...release, "--wait");
        await until("its Deployment is gone", () => isDeleted(server(), Deployment, `caches/${NAME}`));
        await client.create(CACHES, cache("left", { text: "left" }));
        // Its CRDs stay, and its Service is deleted: nothing converts what is deleted with them.
        for (const crd of ["caches.example.com", "trainingjobs.ml.example.com"]) {
          await client.delete(CustomResourceDefinition, crd);
          await until(`${crd} is gone`, () => isDeleted(server(), CustomResourceDefinition, crd));
        }
      },
      why,
    );
    step(
      `deploy installs the operator as a Deployment, and undeploy and uninstall remove it, ${title}`,
      async () => {
        const { client, kubeconfig, runsImage } = server();
        const where = ["--namespace", "deployed", "--kubeconfig", kubeconfig];
        const printed = await project.konverge("deploy", "--image", IMAGE, "--output", "json", ...where);
        const { objects } = JSON.parse(printed) as { objects: { kind: string; name: string; change: string }[] };
        assert.equal(objects.find(({ kind }) => kind === "Deployment")?.change, "created");
        if (runsImage) {
          await client.create(NEW_CACHES, cache("deployed", { message: "deploy" }, "v1beta1"));
          await hasText(server(), "deployed", "DEPLOY");
          assert.ok((await client.get(Lease, `deployed/${NAME}`)).spec?.holderIdentity);
        }
        assert.match(await project.konverge("undeploy", ...where), /deployment\.apps\/cache-operator deleted/);
        await project.konverge("uninstall", "--force", ...where);
        assert.ok(await isDeleted(server(), CustomResourceDefinition, "caches.example.com"));
      },
      missing,
    );
  }

  step("konverge bundle writes an OLM bundle that its checks find valid, and refuses one that is not", async () => {
    const options = ["bundle", "--image", IMAGE, "--provider", "Example Inc."];
    await project.konverge(...options);
    assert.deepEqual(readdirSync(join(project.folder, "bundle", NAME)).sort(), [
      "bundle.Dockerfile",
      "manifests",
      "metadata",
      "tests",
    ]);
    const { code, stderr } = await project.end("konverge", [...options, "--bundle-version", "one"]);
    assert.equal(code, 1);
    assert.match(stderr, /error: cache-operator: version one is not a semantic version/);
  });
});

const npm = (...args: string[]) => project.run("npm", args);

/** Lint and formatting by Biome's recommended rules; a project has no linter. */
async function lint(): Promise<void> {
  const formatter = { indentStyle: "space", indentWidth: 2, lineWidth: 120 };
  project.write("biome.json", `${JSON.stringify({ formatter })}\n`);
  await project.run(resolve("node_modules/.bin/biome"), [
    ...["check", "--error-on-warnings", "src", "package.json", "tsconfig.json"],
  ]);
}

async function tested(...files: string[]): Promise<void> {
  const printed = await project.run("node", ["--disable-warning=ExperimentalWarning", "--test", ...files]);
  assert.match(printed, /fail 0\b/);
}

function cache(name: string, spec: Cache["spec"], version = "v1alpha1"): Cache {
  return { apiVersion: `example.com/${version}`, kind: "Cache", metadata: { name, namespace: "default" }, spec };
}

/** `konverge run`, when it is at work. */
async function running({ kubeconfig }: Server, ...options: string[]): Promise<RunningProgram> {
  const addresses = ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"];
  const run = project.start("konverge", "run", "--kubeconfig", kubeconfig, ...addresses, ...options);
  await until(
    "it is at work",
    () => !run.alive || /"msg":"at work"/.test(run.output),
    () => run.output,
  );
  assert.ok(run.alive, run.output);
  return run;
}

/** Waits for the ConfigMap that the controller makes, and for the status. */
async function hasText({ client }: Server, name: string, text: string, run?: RunningProgram): Promise<void> {
  await until(
    `cache-${name} has the text ${text}`,
    async () => (await client.get(ConfigMap, `default/cache-${name}`)).data?.["text"] === text,
    () => run?.output ?? "",
  );
  await until(`${name} has a status`, async () => {
    return (await client.get(CACHES, `default/${name}`)).status?.text?.toUpperCase() === text;
  });
}

function isDeleted<T extends KubeObject>({ client }: Server, kind: KindRef<T>, key: string): Promise<boolean> {
  return client.get(kind, key).then(
    () => false,
    (error: unknown) => isNotFound(error),
  );
}

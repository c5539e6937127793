import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startCluster } from "@konverge/cluster";
import type { TestEnvironment } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import {
  type ControllerOptions,
  controller,
  ExternalError,
  keyOf,
  Manager,
  type Operator,
  operator,
  PermanentError,
  run,
  watchKind,
} from "konverge";
import { Client } from "konverge/client";
import { ConfigMap, CustomResourceDefinition } from "konverge/kinds";
import { Metrics, silentLog } from "konverge/observability";
import { Cache } from "konverge/runtime";
import { Webhooks } from "konverge/webhooks";
import { knowsOperator } from "../deployed.ts";
import { checklist, line } from "../form.ts";
import { cases, endWorker, jobOf, podsOf, sh, type TrainingCase, untilPhase, workerNames } from "./training-cases.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");

/** An operator with one controller that consists of these options. */
function probe(options: Omit<ControllerOptions<TrainingJob>, "name">): Operator {
  const create = () => ({
    controllers: [controller(TrainingJob, { name: "probe", ...options } as ControllerOptions<TrainingJob>)],
  });
  return operator({ name: "probe", description: "Looks at training jobs.", kinds: [], create });
}

/** Makes a job that waits for nothing but its workers. */
const plainJob = (values: TrainingCase, more: object = {}) => jobOf(values, { dataVolume: undefined, ...more });

/** A make target of this repository, run from the folder of the test, so that nothing is written here. */
const make = (target: string) => {
  const command = `${process.execPath} ${REPOSITORY}/packages/cli/src/main.ts`;
  return `make -f ${REPOSITORY}/Makefile KONVERGE='${command}' ${target}`;
};

export default checklist<TrainingCase>({
  id: "D2",
  name: "training-operator",
  cases,
  stories: [
    line("L7-14", "one operator has kinds, controllers, admission, metrics and settings", async () => {
      const metrics = new Metrics({ process: false }).registry;
      const parts = trainingOperator.create({ metrics, settings: {}, log: silentLog });
      assert.deepEqual(trainingOperator.kinds, [TrainingJob]);
      assert.deepEqual([parts.controllers.length, parts.admissions?.length, parts.conversions?.length], [1, 1, 1]);
      assert.ok(metrics.getSingleMetric("training_jobs_created_total"));
      assert.deepEqual(
        trainingOperator.settings?.map(({ flag }) => flag),
        ["gangScheduling", "gangSchedulerName"],
      );
    }),
    line("L107-111", "every claim of maturity, on every level, names a test that exists", async () => {
      const folder = join(REPOSITORY, "operators/training");
      const rows = readFileSync(join(folder, "README.md"), "utf8").match(/^\| [1-5] .*$/gm) ?? [];
      for (const level of ["1", "2", "3", "4", "5"]) {
        const claims = rows.filter((row) => row.startsWith(`| ${level} `));
        assert.ok(claims.length > 0, `level ${level} claims nothing`);
        for (const claim of claims) {
          const links = [...claim.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
          assert.ok(links.length > 0, `no test shows it: ${claim}`);
          for (const path of links) assert.ok(existsSync(join(folder, path)), `${path} does not exist`);
        }
      }
    }),
    line("L298-303", "the framework has a client, a cache, a manager, webhooks and test utilities", async () => {
      for (const part of [Client, Cache, Manager, Webhooks, controller, run]) assert.equal(typeof part, "function");
      assert.equal(typeof startCluster, "function");
    }),
    line(
      "L309-312",
      "changes of the object, changes of related ones and the clock trigger a reconcile",
      async (stage, values) => {
        const reconciles: string[] = [];
        const watches = [watchKind(ConfigMap, { to: ({ metadata }) => [`${metadata.namespace}/${values.name}`] })];
        await stage.install(trainingOperator);
        await stage.start(probe({ watches, resync: 5_000, reconcile: (job) => void reconciles.push(keyOf(job)) }));
        const more = async (what: string, cause: () => Promise<unknown>) => {
          const before = reconciles.length;
          await cause();
          await stage.until(`${what} triggers a reconcile`, () => reconciles.length > before);
        };
        await more("a creation", () => stage.apply(plainJob(values)));
        await more("a change", () => stage.apply(plainJob(values, { backoffLimit: 1 })));
        await more("a related object", () =>
          stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" } }),
        );
        await more("the clock", async () => {});
      },
    ),
    line(
      "L316-323",
      "a reconciler gets the object of a key, and returns the desired state and when to reconcile again",
      async (stage, values) => {
        const reconciles: [string, number][] = [];
        await stage.install(trainingOperator);
        await stage.start(
          probe({
            reconcile(job, { clock }) {
              reconciles.push([keyOf(job), clock.monotonic()]);
              return reconciles.length < 3 ? { requeueAfter: 2_000 } : undefined;
            },
          }),
        );
        await stage.apply(plainJob(values));
        await stage.until("it reconciles three times", () => reconciles.length === 3);
        assert.deepEqual(new Set(reconciles.map(([key]) => key)), new Set([`${values.namespace}/${values.name}`]));
        assert.ok(reconciles[1]![1] - reconciles[0]![1] >= 2_000);
      },
    ),
    line("L70-72", "the observed state is compared with the desired state, and acted upon", async (stage, values) => {
      await stage.start(trainingOperator);
      await stage.apply(plainJob(values));
      await untilPhase(stage, values.name, "Running");
      assert.equal((await podsOf(stage, values.name)).length, values.workers);
    }),
    line("L88-99", "whatever pulls the cluster away from it, it is brought back", async (stage, values) => {
      const { name, namespace } = values;
      await stage.start(trainingOperator);
      await stage.apply(plainJob(values));
      await untilPhase(stage, name, "Running");
      const configMap = `${namespace}/${name}-hyperparameters`;
      const [parameter = ""] = Object.keys(values.hyperparameters);
      await stage.client.patch(ConfigMap, configMap, { merge: { data: { [parameter]: "wrong" } } });
      await stage.until("it is as it was", async () => {
        return (
          (await stage.client.get(ConfigMap, configMap)).data?.[parameter] === String(values.hyperparameters[parameter])
        );
      });
    }),
    line("L705", "a deleted object is no error", async (stage, values) => {
      const { warnings } = await stage.start(trainingOperator);
      await stage.apply(plainJob(values));
      await stage.client.delete(TrainingJob, `${values.namespace}/${values.name}`);
      await stage.until("it is gone", async () => !(await stage.find(TrainingJob, values.name)));
      await stage.settled();
      assert.deepEqual(
        warnings.filter((one) => one.includes(values.name)),
        [],
      );
    }),
    {
      title: "finalizers",
      lines: {
        "L787-803": "what lies outside is cleaned up, and only then the finalizer goes",
        "L1056-1085":
          "a finalizer of any name is added before the work, held while cleaning up fails, and never put back",
      },
      async play(stage, values, check) {
        const { name, namespace } = values;
        let outside = "";
        let refuses = true;
        const cleanup = () => {
          if (refuses) throw new Error("the bucket does not answer");
          outside = "";
          return undefined;
        };
        const reconcile = (job: TrainingJob) => {
          assert.ok(job.metadata.finalizers?.includes("myresource.example.com/finalizer"));
          outside = job.metadata.name;
          return undefined;
        };
        await stage.install(trainingOperator);
        await stage.start(probe({ reconcile, cleanup, finalizer: "myresource.example.com/finalizer" }));
        await stage.apply(plainJob(values));
        await stage.until("it was worked on", () => outside === name);
        await stage.client.delete(TrainingJob, `${namespace}/${name}`);
        await check("L787-803", async () => {
          await stage.advance(2_000);
          assert.equal(outside, name);
          const { metadata } = await stage.get(TrainingJob, name);
          assert.deepEqual(metadata.finalizers, ["myresource.example.com/finalizer"]);
        });
        await check("L1056-1085", async () => {
          refuses = false;
          await stage.until("it is gone", async () => !(await stage.find(TrainingJob, name)));
          assert.equal(outside, "");
        });
      },
    },
    line("L1021-1033", "the status is written apart from the spec", async (stage, values) => {
      const paths: string[] = [];
      await stage.start(trainingOperator);
      stage.injectFault(async (request, next) => {
        if (request.method !== "GET" && request.path.includes("/trainingjobs/"))
          paths.push(request.path.split("?")[0]!);
        return next(request);
      });
      await stage.apply(plainJob(values));
      await untilPhase(stage, values.name, "Running");
      stage.injectFault(undefined);
      assert.ok(paths.some((path) => path.endsWith(`/${values.name}/status`)));
      const { metadata } = await stage.get(TrainingJob, values.name);
      assert.equal(metadata.generation, 1, "the operator never writes the spec");
    }),
    line(
      "L998-1017",
      "errors that pass are retried later and later, those that do not are reported, and outside ones are waited for",
      async (stage, values) => {
        const reconciles = new Map<string, number[]>();
        await stage.install(trainingOperator);
        await stage.start(
          probe({
            reconcile({ metadata }, { clock }) {
              reconciles.set(metadata.name, [...(reconciles.get(metadata.name) ?? []), clock.monotonic()]);
              if (metadata.name.endsWith("-a")) throw new Error("the network is away");
              if (metadata.name.endsWith("-b")) throw new PermanentError("BadConfiguration", "no such dataset");
              throw new ExternalError("QueueFull", "the queue is full", { requeueAfter: 300_000 });
            },
          }),
        );
        const names = ["a", "b", "c"].map((letter) => `${values.name}-${letter}`);
        for (const name of names) await stage.apply(plainJob({ ...values, name }));
        await stage.advance(610_000);
        const [transient = [], permanent = [], external = []] = names.map((name) => reconciles.get(name));
        const waits = transient.slice(1).map((time, i) => time - transient[i]!);
        assert.ok(waits.length >= 4 && waits.at(-1)! > 4 * waits[0]!, `waits of ${waits.join(", ")} ms`);
        assert.equal(permanent.length, 1);
        assert.equal(await stage.condition(TrainingJob, names[1]!, "Degraded"), "True BadConfiguration");
        assert.equal(external.length, 3);
      },
      { where: "embedded" },
    ),
    line(
      "L979-993",
      "the spec is the user's, the status the operator's; two versions are served at once",
      async (stage, values) => {
        await stage.start(trainingOperator);
        const Beta = TrainingJob.atVersion("v1beta1");
        await stage.apply({ ...plainJob(values), status: { phase: "Failed" } });
        await untilPhase(stage, values.name, "Running");
        await stage.until("the other version is served", () =>
          stage.get(Beta, values.name).then(
            ({ spec }) => spec.worker.replicas === values.workers,
            () => false,
          ),
        );
      },
    ),
    line(
      "L1092-1133",
      "a reconciler can be tried without a cluster, even on an object that no server would store",
      async (stage, values) => {
        await stage.install(trainingOperator);
        const bare = { apiVersion: "ml.example.com/v1alpha1", kind: "TrainingJob", metadata: { name: "test-job" } };
        await assert.rejects(
          stage.apply({ ...bare, spec: { framework: values.framework, workers: 2 } }),
          /Required value/,
        );
        const warnings: string[] = [];
        const { controllers } = trainingOperator.create({
          metrics: new Metrics({ process: false }).registry,
          settings: { gangScheduling: "none" },
          log: silentLog,
        });
        const job = { ...bare, metadata: { name: "test-job", namespace: "default", uid: "u" } };
        const result = await controllers[0]!.options.reconcile(
          { ...job, spec: { framework: values.framework, workers: 2 } } as never,
          {
            clock: stage.clock,
            cache: { get: () => undefined, list: () => [], find: () => [] },
            observed: { all: () => [] },
            events: { normal() {}, warning: (reason: string) => void warnings.push(reason) },
          } as never,
        );
        assert.equal(result?.conditions?.["Degraded"]?.reason, "InvalidSpec");
        assert.deepEqual(warnings, ["InvalidSpec"]);
      },
    ),
    line("L1137-1158", "a control plane for tests starts, takes definitions, and stops", async () => {
      await using cluster = await startCluster();
      const url = "https://127.0.0.1:1/convert";
      const crd = TrainingJob.crd({ conversionWebhook: { url } });
      await cluster.client.create(CustomResourceDefinition, crd);
      const { status } = await cluster.client.get(CustomResourceDefinition, crd.metadata.name);
      assert.ok(status !== undefined);
    }),
    {
      title: "what is observed",
      lines: {
        "L1172-1184": "jobs are counted and timed, under these names and with these words",
        "L1206-1213": "an event tells how many workers were created",
      },
      async play(stage, values, check) {
        const { name, workers } = values;
        const running = await stage.start(trainingOperator);
        await stage.apply(plainJob(values));
        await untilPhase(stage, name, "Running");
        await check("L1206-1213", async () => {
          await stage.until("it is reported", async () => {
            return (await stage.events(TrainingJob, name)).includes(
              `Normal WorkersCreated Created ${workers} worker pods`,
            );
          });
        });
        await check("L1172-1184", async () => {
          for (const pod of workerNames(name, workers)) await endWorker(stage, pod, 0);
          await untilPhase(stage, name, "Succeeded");
          const text = await running.metrics();
          assert.match(
            text,
            /# HELP training_jobs_created_total Total number of training jobs created\n# TYPE \w+ counter/,
          );
          assert.match(text, /^training_jobs_created_total 1$/m);
          assert.match(
            text,
            /# HELP training_job_duration_seconds Training job duration in seconds\n# TYPE \w+ histogram/,
          );
          assert.match(text, /^training_job_duration_seconds_count 1$/m);
        });
      },
    },
    {
      title: "from the sources into a cluster, by make",
      kubectl: true,
      lines: {
        "L623-629": "the definition is generated from the one definition in code",
        "L688-692": "so are roles: what is needed, and the wider ones that scaffolds have",
        L839: "make manifests",
        L843: "make docker-build docker-push",
        L846: "make install",
        L849: "make deploy",
        L852: "make run",
      },
      async play(stage, values, check) {
        // The conversion webhook of an earlier definition no longer runs.
        await sh(stage, "kubectl delete crd trainingjobs.ml.example.com --ignore-not-found");
        await check("L839", async () => {
          await sh(stage, make("manifests"));
          await sh(stage, "test -f config/training-operator/deployment.yaml");
        });
        await check("L623-629", async () => {
          const text = await sh(stage, "cat config/training-operator/crds/trainingjobs.ml.example.com.yaml");
          assert.match(text, /name: trainingjobs\.ml\.example\.com/);
          assert.match(text, /jsonPath: \.spec\.framework/);
        });
        await check("L688-692", async () => {
          const [needed, classic] = await Promise.all(
            ["role.yaml", "classic-role/role.yaml"].map((file) => sh(stage, `cat config/training-operator/${file}`)),
          );
          assert.match(needed!, /resources:\n *- trainingjobs\/status\n *verbs:\n *- patch\n/);
          const seven = ["get", "list", "watch", "create", "update", "patch", "delete"]
            .map((verb) => ` *- ${verb}\n`)
            .join("");
          for (const resource of ["pods", "services", "trainingjobs"]) {
            assert.match(classic!, new RegExp(`- ${resource}\n(?: *- [a-z]+\n)* *verbs:\n${seven}`));
          }
          assert.match(classic!, /- trainingjobs\/finalizers\n *verbs:\n *- update\n/);
          assert.match(classic!, /- trainingjobs\/status\n *verbs:\n *- get\n *- update\n *- patch\n/);
        });
        await check("L843", async () => {
          const image = `registry.example.com/${values.namespace}/training-job-operator:v0.1.0`;
          const said = await sh(stage, make(`docker-build docker-push IMG=${image} CONTAINER_TOOL=echo`));
          assert.ok(said.includes(`build --tag ${image}`) && said.includes(`push ${image}`), said);
        });
        const only = `OPERATORS=training-operator NAMESPACE=${values.namespace}`;
        await check("L846", async () => {
          await sh(stage, make(`install ${only}`));
          await sh(stage, "kubectl wait --for=condition=Established crd/trainingjobs.ml.example.com --timeout=60s");
          // kubectl and the server remember for a while which versions the last definition had.
          const asks = 'rm -rf "$KUBECACHEDIR"; kubectl get trainingjobs && exit 0; sleep 1';
          await sh(stage, `for i in $(seq 60); do ${asks}; done; exit 1`);
        });
        await check("L852", () => runsLocally(stage, values));
        await check("L849", async () => {
          await knowsOperator(stage, {
            module: "@konverge/training-operator",
            image: "registry.example.com/training-job-operator",
          });
          await sh(stage, make(`deploy ${only} IMG=registry.example.com/training-job-operator:v0.1.0`));
          const image = await sh(stage, "kubectl get deployment training-operator -o jsonpath='{..image}'");
          assert.equal(image, "registry.example.com/training-job-operator:v0.1.0");
          await sh(stage, make(`undeploy ${only}`));
        });
      },
    },
  ],
});

/** Runs the operator as a process on this machine until a job runs, then ends it. */
async function runsLocally(stage: TestEnvironment, values: TrainingCase): Promise<void> {
  const addresses = "--metrics-bind-address 0 --health-probe-bind-address 0";
  const job = JSON.stringify(plainJob(values));
  await sh(
    stage,
    [
      `setsid ${make(`run OPERATORS=training-operator ARGS='${addresses}'`)} > run.log 2>&1 & PID=$!`,
      `kubectl apply -f - <<'END'\n${job}\nEND`,
      `kubectl wait --for=jsonpath='{.status.phase}'=Running trainingjob/${values.name} --timeout=120s; CODE=$?`,
      `kubectl delete trainingjob ${values.name} --timeout=60s || CODE=1`,
      `kill -INT -- -$PID; wait $PID; test $CODE = 0 || { cat run.log; exit 1; }`,
    ].join("\n"),
  );
}

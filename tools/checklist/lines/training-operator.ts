import assert from "node:assert/strict";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { ConfigMap, CustomResourceDefinition, Pod, Service } from "konverge/kinds";
import { checklist, line } from "../form.ts";
import {
  cases,
  endWorker,
  jobOf,
  phaseOf,
  podsOf,
  provideData,
  sh,
  type TrainingCase,
  untilPhase,
  workerNames,
} from "./training-cases.ts";

export default checklist<TrainingCase>({
  id: "D2",
  name: "training-operator",
  cases,
  stories: [
    line("L133-243", "the definition of TrainingJob: names, bounds, status, columns", async (stage) => {
      await stage.install(trainingOperator);
      const { spec } = await stage.client.get(CustomResourceDefinition, "trainingjobs.ml.example.com");
      const { kind, listKind, plural, singular, shortNames } = spec.names;
      assert.deepEqual(
        [spec.group, spec.scope, kind, listKind, plural, singular, shortNames],
        ["ml.example.com", "Namespaced", "TrainingJob", "TrainingJobList", "trainingjobs", "trainingjob", ["tj"]],
      );
      const [version] = spec.versions;
      assert.deepEqual([version?.name, version?.served, version?.storage], ["v1alpha1", true, true]);
      assert.deepEqual(version?.subresources?.status, {});
      const { spec: wanted, status } = version!.schema!.openAPIV3Schema!.properties! as never as Record<string, Schema>;
      assert.deepEqual([...wanted!.required!].sort(), ["command", "framework", "image", "workers"]);
      const field = (name: string) => wanted!.properties![name]!;
      assert.deepEqual(field("framework").enum, ["pytorch", "tensorflow"]);
      assert.deepEqual([field("workers").minimum, field("workers").maximum], [1, 100]);
      assert.deepEqual([field("gpuPerWorker").minimum, field("gpuPerWorker").maximum], [0, 8]);
      assert.equal(field("hyperparameters")["x-kubernetes-preserve-unknown-fields"], true);
      assert.equal(field("dataVolume").properties!["claimName"]!.type, "string");
      assert.deepEqual(status!.properties!["phase"]!.enum, ["Pending", "Running", "Succeeded", "Failed"]);
      for (const time of ["startTime", "completionTime"]) assert.equal(status!.properties![time]!.format, "date-time");
      const worker = Object.keys(status!.properties!["workerStatuses"]!.items!.properties!);
      for (const name of ["workerId", "podName", "status"]) assert.ok(worker.includes(name), name);
      const condition = Object.keys(status!.properties!["conditions"]!.items!.properties!);
      for (const name of ["type", "status", "reason", "message", "lastTransitionTime"])
        assert.ok(condition.includes(name), name);
      const columns = version!.additionalPrinterColumns!.filter(({ priority }) => !priority).map(({ name }) => name);
      assert.deepEqual(columns, ["Framework", "Workers", "Phase", "Age"]);
    }),
    line(
      "L248-254",
      "what is of the wrong type, missing, out of range or unknown is refused",
      async (stage, values) => {
        await stage.install(trainingOperator);
        const wrong: [object, RegExp][] = [
          [{ workers: "many" }, /spec\.workers/],
          [{ image: undefined }, /spec\.image: Required value/],
          [{ workers: 101 }, /spec\.workers.*less than or equal to 100/],
          [{ gpuPerWorker: 9 }, /spec\.gpuPerWorker.*less than or equal to 8/],
          [{ framework: "caffe" }, /Unsupported value: "caffe"/],
        ];
        for (const [spec, message] of wrong) await assert.rejects(stage.apply(jobOf(values, spec)), message);
        assert.deepEqual(await stage.list(TrainingJob), []);
      },
    ),
    {
      title: "a job with kubectl",
      kubectl: true,
      lines: {
        "L261-282": "a job with data, checkpoints and hyperparameters of any type converges as it is",
        L288: "kubectl applies it from a file",
        L289: "kubectl lists it with its columns",
        L290: "kubectl describes it, with its events",
        L291: "kubectl deletes it, and all of it goes",
      },
      async play(stage, values, check) {
        const { name, framework, workers, gpus, variable, claim, checkpointDir } = values;
        await stage.start(trainingOperator);
        await provideData(stage, values);
        await check("L288", async () => {
          const text = JSON.stringify(jobOf(values));
          assert.match(
            await sh(stage, `cat > ${name}.yaml <<'END'\n${text}\nEND\nkubectl apply -f ${name}.yaml`),
            /created/,
          );
        });
        await check("L261-282", async () => {
          await untilPhase(stage, name, "Running");
          const pods = await podsOf(stage, name);
          assert.deepEqual(
            pods.map(({ metadata }) => metadata.name),
            workerNames(name, workers),
          );
          const [container] = pods[0]!.spec!.containers;
          assert.deepEqual(container!.command, values.command);
          assert.equal(container!.resources?.limits?.["nvidia.com/gpu"], String(gpus));
          const set = Object.fromEntries(container!.env!.map((one) => [one.name, one.value]));
          assert.equal(set[variable[0]], variable[1]);
          assert.equal(set["CHECKPOINT_DIR"], checkpointDir);
          const mounted = pods[0]!.spec!.volumes!.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName);
          assert.ok(mounted.includes(claim));
        });
        await check("L289", async () => {
          const [header = "", row = ""] = (await sh(stage, "kubectl get trainingjobs")).split("\n");
          assert.deepEqual(header.split(/ +/), ["NAME", "FRAMEWORK", "WORKERS", "PHASE", "AGE"]);
          assert.deepEqual(row.split(/ +/).slice(0, 4), [name, framework, String(workers), "Running"]);
          assert.match(await sh(stage, "kubectl get tj"), new RegExp(`^${name} `, "m"));
        });
        await check("L290", async () => {
          const text = await sh(stage, `kubectl describe trainingjob ${name}`);
          assert.match(text, new RegExp(`Pod Name: +${name}-worker-0`));
          assert.match(text, new RegExp(`WorkersCreated .*Created ${workers} worker pods`));
        });
        await check("L291", async () => {
          await sh(stage, `kubectl delete trainingjob ${name}`);
          await stage.until("its pods are gone", async () => (await podsOf(stage, name)).length === 0);
          assert.equal(await phaseOf(stage, name), undefined);
        });
      },
    },
    {
      title: "the reconciler at work",
      lines: {
        "L328-381":
          "deleted objects are ignored, the finalizer comes first, then workers, Service and status; looked at again while it runs",
        "L385-426": "looking again writes nothing",
        "L437-452": "workers are controlled by their job, and go with it",
        "L551-586": "arguments, resources and all of the claim's source are honoured",
        "L591-621": "phases and conditions",
        L679: "the finalizer has its name",
        "L755-761": "missing pods are made, surplus ones deleted, outdated ones replaced",
        "L768-771": "a headless Service names the workers",
        "L778-784": "phase, conditions and times follow from the pods",
        "L807-812": "changes of pods and Services are noticed",
        "L1040-1051": "conditions carry generation, transition, reason and message",
      },
      async play(stage, values, check) {
        const { name, workers, namespace } = values;
        await stage.start(trainingOperator);
        await provideData(stage, values);
        const resources = { requests: { cpu: "100m" }, limits: { memory: "1Gi" } };
        const dataVolume = { claimName: values.claim, readOnly: true };
        await stage.apply(jobOf(values, { args: ["--seed=1"], resources, dataVolume, restartPolicy: "OnFailure" }));
        const status = async () => (await stage.get(TrainingJob, name)).status!;
        await check("L328-381", async () => {
          await untilPhase(stage, name, "Running");
          const { metadata } = await stage.get(TrainingJob, name);
          const finalizerAt = metadata.managedFields!.find(({ fieldsV1 }) =>
            JSON.stringify(fieldsV1).includes("finalizer"),
          );
          assert.ok(finalizerAt, "the finalizer was stored");
        });
        await check("L679", async () => {
          assert.deepEqual((await stage.get(TrainingJob, name)).metadata.finalizers, [
            "trainingjob.ml.example.com/finalizer",
          ]);
        });
        await check("L437-452", async () => {
          const { metadata } = await stage.get(TrainingJob, name);
          for (const pod of await podsOf(stage, name)) {
            const [owner] = pod.metadata.ownerReferences!;
            assert.deepEqual([owner?.kind, owner?.uid, owner?.controller], ["TrainingJob", metadata.uid, true]);
          }
        });
        await check("L551-586", async () => {
          const { spec } = await stage.get(Pod, `${name}-worker-0`);
          const [container] = spec!.containers;
          assert.deepEqual([container!.args, container!.resources?.requests?.["cpu"]], [["--seed=1"], "100m"]);
          assert.equal(container!.resources?.limits?.["memory"], "1Gi");
          const volume = spec!.volumes!.find((one) => one.persistentVolumeClaim?.claimName === values.claim);
          assert.equal(volume?.persistentVolumeClaim?.readOnly, true);
        });
        await check("L768-771", async () => {
          const service = await stage.get(Service, `${name}-workers`);
          assert.equal(service.spec?.clusterIP, "None");
          const { spec } = await stage.get(Pod, `${name}-worker-1`);
          assert.deepEqual([spec?.hostname, spec?.subdomain], [`${name}-worker-1`, service.metadata.name]);
        });
        await check("L385-426", async () => {
          await stage.settled();
          const writes = stage.writes();
          // A user's change that asks for nothing new brings the reconciler back.
          await stage.client.patch(TrainingJob, `${namespace}/${name}`, {
            merge: { metadata: { labels: { reviewed: "1" } } },
          });
          await stage.settled();
          assert.equal(stage.writes(), writes);
        });
        await check("L1040-1051", async () => {
          const { conditions, observedGeneration } = await status();
          const { generation } = (await stage.get(TrainingJob, name)).metadata;
          assert.equal(observedGeneration, generation);
          for (const { lastTransitionTime, reason, observedGeneration: observed } of conditions!) {
            assert.ok(lastTransitionTime && reason);
            assert.equal(observed, generation);
          }
          const ready = conditions!.find(({ type }) => type === "Ready");
          assert.deepEqual([ready?.status, ready?.message], ["True", `${workers} of ${workers} workers run`]);
        });
        await check("L807-812", async () => {
          await stage.client.delete(Service, `${namespace}/${name}-workers`);
          await stage.until("it is back", async () => (await stage.find(Service, `${name}-workers`)) !== undefined);
        });
        await check("L755-761", async () => {
          const uid = async () => (await stage.find(Pod, `${name}-worker-0`))?.metadata.uid;
          const before = await uid();
          await stage.client.patch(TrainingJob, `${namespace}/${name}`, { merge: { spec: { workers: workers - 1 } } });
          await stage.until("the smaller gang runs", async () => {
            const { active, phase, attempt } = await status();
            return active === workers - 1 && phase === "Running" && attempt === 1;
          });
          assert.notEqual(await uid(), before);
          await stage.client.delete(Pod, `${namespace}/${name}-worker-0`);
          await stage.until("the worker is back", async () => {
            const { active, phase, attempt } = await status();
            return active === workers - 1 && phase === "Running" && attempt === 2;
          });
        });
        await check("L778-784", async () => {
          assert.ok((await status()).startTime);
          for (const { metadata } of await podsOf(stage, name)) await endWorker(stage, metadata.name, 0);
          await untilPhase(stage, name, "Succeeded");
          const { startTime, completionTime, workerStatuses } = await status();
          assert.ok(completionTime! >= startTime!);
          assert.ok(workerStatuses!.every((one) => one.status === "Succeeded"));
        });
        await check("L591-621", async () => {
          assert.equal(await stage.condition(TrainingJob, name, "Succeeded"), "True TrainingSucceeded");
          assert.equal(await stage.condition(TrainingJob, name, "Failed"), "False TrainingSucceeded");
        });
      },
    },
    {
      title: "what a training needs that plain objects do not give",
      lines: {
        "L39-44": "initialisation, changes, scaling and recovery that know what a training is",
        "L47-52":
          "workers are coordinated, parameter servers set up, checkpoints kept, failures restarted, ends cleaned up, progress followed",
        "L460-478": "a ConfigMap that is not the job's own is watched for it",
      },
      // Progress is read from logs, which simulated nodes of a real control plane do not have.
      where: "embedded",
      async play(stage, values, check) {
        const { name, namespace } = values;
        await stage.start(trainingOperator);
        const image = "trainer:progress";
        stage.cluster!.image(image, { logs: '@progress {"step": 5, "totalSteps": 10}\n' });
        const servers = values.framework === "tensorflow" ? { parameterServers: { count: 1 } } : {};
        const checkpoints = {
          checkpointDir: values.checkpointDir,
          checkpointVolume: { size: "1Gi", onDelete: "Delete" },
        };
        const from = { hyperparametersFrom: { configMapName: "shared" } };
        await stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared" }, data: { seed: "1" } });
        await stage.apply(
          jobOf(values, { image, dataVolume: undefined, ...servers, ...checkpoints, ...from, cleanPodPolicy: "All" }),
        );
        const status = async () => (await stage.get(TrainingJob, name)).status!;
        await untilPhase(stage, name, "Running");
        await check("L460-478", async () => {
          await stage.client.patch(ConfigMap, `${namespace}/shared`, { merge: { data: { seed: "2" } } });
          await stage.until("workers have the new value", async () => {
            const pod = await stage.find(Pod, `${name}-worker-0`);
            const seed = pod?.spec?.containers[0]?.env?.find((one) => one.name === "HP_SEED")?.value;
            return seed === "2" && (await status()).phase === "Running";
          });
        });
        await check("L39-44", async () => {
          await endWorker(stage, `${name}-worker-0`, 1);
          await stage.until("the whole gang is restarted, and counted once", async () => {
            const { restarts, phase } = await status();
            return restarts === 1 && phase === "Running";
          });
        });
        await check("L47-52", async () => {
          await stage.until("progress is known", async () => (await status()).progress?.percent === 50);
          const { env } = (await stage.get(Pod, `${name}-worker-1`)).spec!.containers[0]!;
          const set = Object.fromEntries(env!.map((one) => [one.name, one.value]));
          assert.equal(set["RESUME"], "true");
          if (values.framework === "pytorch") assert.equal(set["RANK"], "1");
          else assert.equal(JSON.parse(set["TF_CONFIG"]!).cluster.ps.length, 1);
          for (const pod of workerNames(name, values.workers)) await endWorker(stage, pod, 0);
          await untilPhase(stage, name, "Succeeded");
          await stage.until("all is cleaned up", async () => (await podsOf(stage, name)).length === 0);
        });
      },
    },
  ],
});

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

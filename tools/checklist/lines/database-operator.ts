import assert from "node:assert/strict";
import { Database, databaseOperator } from "@konverge/database-operator";
import { podOperator } from "@konverge/database-operator/tutorial";
import { supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { ConfigMap, CronJob, PersistentVolumeClaim, Pod, Secret, Service, StatefulSet } from "konverge/kinds";
import { checklist, line } from "../form.ts";

interface Names {
  readonly namespace: string;
  readonly first: Instance;
  readonly more: readonly Instance[];
  /** One that is asked for again with a smaller volume. */
  readonly shrunk: { readonly name: string; readonly from: string; readonly to: string };
}
interface Instance {
  readonly name: string;
  readonly version: string;
  readonly size: string;
  readonly image: string;
  readonly password: string;
}

const database = ({ name, version, size }: Pick<Instance, "name" | "version" | "size">) => ({
  apiVersion: "example.com/v1",
  kind: "Database",
  metadata: { name },
  spec: { version, size },
});

async function sh(stage: TestEnvironment, command: string): Promise<string> {
  const { code, stdout, stderr } = await stage.shell(command);
  assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
  return stdout;
}

const runs = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} runs`, async () => (await stage.find(Database, name))?.status?.phase === "Running");

export default checklist<Names>({
  id: "D4",
  name: "database-operator",
  cases: [
    {
      namespace: "default",
      first: {
        name: "postgres-prod",
        version: "15.3",
        size: "5Gi",
        image: "postgres:15.3",
        password: "POSTGRES_PASSWORD",
      },
      more: [
        { name: "mysql-dev", version: "8.0", size: "3Gi", image: "mysql:8.0", password: "MYSQL_ROOT_PASSWORD" },
        { name: "postgres-stage", version: "14.2", size: "7Gi", image: "postgres:14.2", password: "POSTGRES_PASSWORD" },
      ],
      shrunk: { name: "postgres-stage", from: "7Gi", to: "4Gi" },
    },
    {
      namespace: "team-data",
      first: { name: "orders", version: "8.4", size: "2Gi", image: "mysql:8.4", password: "MYSQL_ROOT_PASSWORD" },
      more: [
        { name: "my-postgres", version: "17", size: "1Gi", image: "postgres:17", password: "POSTGRES_PASSWORD" },
        { name: "cache", version: "8.0", size: "9Gi", image: "mysql:8.0", password: "MYSQL_ROOT_PASSWORD" },
      ],
      shrunk: { name: "my-postgres", from: "1Gi", to: "500Mi" },
    },
  ],
  stories: [
    {
      title: "the kind, without an operator",
      kubectl: true,
      lines: {
        "L45-104": "the kind as the document has it: names, schema, columns, status",
        "L115-116": "the CRD is applied and listed",
        L121: "kubectl knows the kind",
        "L140-144": "objects are stored and listed; nobody sets a phase",
        "L492-516": "what does not fit the schema is refused and not stored",
        "L530-541": "the only subresource is the status",
        L710: "kubectl knows the short name",
        "L713-719": "kubectl describes, prints and picks fields",
      },
      async play(stage, { first }, check) {
        await stage.install(databaseOperator);
        await check("L115-116", async () =>
          assert.match(await sh(stage, "kubectl get crd databases.example.com"), /databases\.example\.com/),
        );
        await check("L121", async () =>
          assert.match(
            await sh(stage, "kubectl api-resources | grep database"),
            /databases +db +example\.com\/v1 +true +Database/,
          ),
        );
        await check("L45-104", async () => {
          const crd = Database.crd();
          const [version] = crd.spec.versions;
          assert.equal(crd.spec.names.listKind, "DatabaseList");
          assert.deepEqual(version?.schema?.openAPIV3Schema?.properties?.["spec"]?.required, ["version", "size"]);
          assert.deepEqual(
            version?.additionalPrinterColumns?.map(({ name }) => name),
            ["Version", "Size", "Phase", "Age"],
          );
          const phase = version?.schema?.openAPIV3Schema?.properties?.["status"]?.properties?.["phase"];
          assert.deepEqual(phase?.enum, ["Creating", "Running", "Failed"]);
        });
        await stage.apply(database(first));
        await check("L140-144", async () =>
          assert.match(
            await sh(stage, "kubectl get databases"),
            new RegExp(`${first.name} +${first.version} +${first.size} +\\d`),
          ),
        );
        await check("L710", async () => assert.match(await sh(stage, "kubectl get db"), new RegExp(first.name)));
        await check("L713-719", async () => {
          assert.match(await sh(stage, `kubectl describe database ${first.name}`), new RegExp(`Size: +${first.size}`));
          const spec = JSON.parse(await sh(stage, `kubectl get database ${first.name} -o jsonpath='{.spec}'`));
          assert.equal(spec.version, first.version);
        });
        await check("L530-541", async () => {
          const command = "kubectl get crd databases.example.com -o jsonpath='{.spec.versions[0].subresources}'";
          assert.equal(await sh(stage, command), '{"status":{}}');
        });
        await check("L492-516", async () => {
          const wrong = `{"apiVersion":"example.com/v1","kind":"Database","metadata":{"name":"wrong"},"spec":{"version":"1","size":10}}`;
          const { code, stderr } = await stage.shell(`echo '${wrong}' | kubectl apply -f -`);
          assert.notEqual(code, 0);
          assert.match(stderr, /spec\.size/);
          assert.equal(await stage.find(Database, "wrong"), undefined);
        });
      },
    },
    {
      title: "databases at work",
      kubectl: true,
      lines: {
        "L20-33": "a StatefulSet with a stable name, a Service, a volume, settings and a password, all managed",
        "L233-237": "the phase becomes Running",
        "L264-268": "several databases run independently",
        "L586-611": "a finalizer is there, and who removes it is obeyed",
        L731: "events report what happened",
        "L395-401": "a deleted database takes its pods with it",
      },
      async play(stage, { first, more }, check) {
        await supplyVolumes(stage, first.size, ...more.map(({ size }) => size));
        await stage.start(databaseOperator);
        await stage.apply(database(first));
        await check("L233-237", async () => {
          await runs(stage, first.name);
          const status = await sh(stage, `kubectl get database ${first.name} -o yaml | grep -A 5 "^status:"`);
          assert.match(status, /^status:/);
        });
        await check("L264-268", async () => {
          for (const one of more) await stage.apply(database(one));
          for (const one of more) await runs(stage, one.name);
          assert.equal((await sh(stage, "kubectl get databases --no-headers")).trim().split("\n").length, 3);
        });
        await check("L20-33", async () => {
          for (const { name, image, password, size } of [first, ...more]) {
            const { spec } = await stage.get(StatefulSet, name);
            const [server] = spec!.template.spec!.containers;
            assert.equal(server!.image, image);
            assert.equal(server!.env![0]!.name, password);
            assert.equal((await stage.get(Pod, `${name}-0`)).status?.phase, "Running");
            const claim = await stage.get(PersistentVolumeClaim, `data-${name}-0`);
            assert.equal(claim.spec?.resources?.requests?.["storage"], size);
            for (const [kind, child] of [
              [Service, name],
              [ConfigMap, `${name}-config`],
              [Secret, `${name}-credentials`],
            ] as const) {
              assert.ok(await stage.find(kind as typeof Service, child));
            }
          }
        });
        await check("L731", async () => {
          const command = `kubectl get events --field-selector involvedObject.name=${first.name} --no-headers`;
          assert.match(await sh(stage, command), /Running/);
        });
        await check("L395-401", async () => {
          await sh(stage, `kubectl delete database ${first.name}`);
          await stage.until("its pod is gone", async () => (await stage.find(Pod, `${first.name}-0`)) === undefined);
        });
        await check("L586-611", async () => {
          const { name } = more[0]!;
          const command = `kubectl get database ${name} -o jsonpath='{.metadata.finalizers}'`;
          assert.equal(await sh(stage, command), '["databases.example.com/finalizer"]');
          await sh(stage, `kubectl delete database ${name} --wait=false`);
          await stage.shell(`kubectl patch database ${name} -p '{"metadata":{"finalizers":[]}}' --type=merge`);
          await stage.until("it is gone", async () => (await stage.find(Database, name)) === undefined);
        });
      },
    },
    line(
      "L407-429",
      "a volume that is asked to shrink keeps its size, and that is reported",
      async (stage, { shrunk }) => {
        await supplyVolumes(stage, shrunk.from);
        await stage.start(databaseOperator);
        await stage.apply(database({ name: shrunk.name, version: "1", size: shrunk.from }));
        await runs(stage, shrunk.name);
        await stage.apply(database({ name: shrunk.name, version: "1", size: shrunk.to }));
        await stage.until("it is refused", async () => {
          return (await stage.condition(Database, shrunk.name, "StorageAsRequested")) === "False ShrinkRefused";
        });
        const claim = await stage.get(PersistentVolumeClaim, `data-${shrunk.name}-0`);
        assert.equal(claim.spec?.resources?.requests?.["storage"], shrunk.from);
        assert.equal((await stage.get(Database, shrunk.name)).status?.phase, "Running");
      },
    ),
    line("L553-583", "a server that finds no node says so", async (stage, { first }) => {
      await supplyVolumes(stage, "1Gi");
      await stage.start(databaseOperator);
      const spec = { version: "1", size: "1Gi", resources: { requests: { memory: "800Ti" } } };
      await stage.apply({ ...database(first), spec });
      await stage.until("it is reported", async () => {
        const events = await stage.events(Database, first.name);
        return events.some((text) => /\d+\/\d+ nodes are available: .*Insufficient memory/.test(text));
      });
      await stage.client.patch(Database, `${stage.namespace}/${first.name}`, {
        merge: {
          spec: { resources: { requests: { memory: "128Mi", cpu: "50m" }, limits: { memory: "256Mi", cpu: "200m" } } },
        },
      });
      await runs(stage, first.name);
    }),
    line("L28", "backups are taken by a CronJob", async (stage, { first }) => {
      await stage.start(databaseOperator);
      await stage.apply({ ...database(first), spec: { version: "1", size: "1Gi", backup: { schedule: "0 3 * * *" } } });
      await stage.until(
        "the CronJob is there",
        async () => (await stage.find(CronJob, `${first.name}-backup`)) !== undefined,
      );
    }),
    {
      title: "the smallest operator",
      lines: {
        "L297-339": "one bare Pod each, with labels, image, password and resources; its name is in the status",
        "L341-366": "a deleted object takes its Pod with it",
      },
      async play(stage, { first, more }, check) {
        await stage.start(podOperator);
        for (const one of [first, ...more]) await stage.apply(database(one));
        await check("L297-339", async () => {
          for (const { name, image, password } of [first, ...more]) {
            await runs(stage, name);
            const pod = await stage.get(Pod, `${name}-pod`);
            assert.deepEqual(
              [pod.metadata.labels?.["app"], pod.metadata.labels?.["database-name"]],
              ["database", name],
            );
            const [container] = pod.spec!.containers;
            assert.equal(container!.name, "database");
            assert.equal(container!.image, image);
            assert.equal(container!.env![0]!.name, password);
            assert.deepEqual(container!.resources?.limits, { memory: "512Mi", cpu: "500m" });
            assert.equal((await stage.get(Database, name)).status?.podName, `${name}-pod`);
          }
        });
        await check("L341-366", async () => {
          await stage.client.delete(Database, `${stage.namespace}/${first.name}`);
          await stage.until("its Pod is gone", async () => (await stage.find(Pod, `${first.name}-pod`)) === undefined);
          assert.ok(await stage.find(Pod, `${more[0]!.name}-pod`));
        });
      },
    },
  ],
});

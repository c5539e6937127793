import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ClusterOptions, startCluster } from "@konverge/cluster";
import { type AnyObject, findCondition, type KindRef, type WithConditions } from "@konverge/core";
import { Instance, kudoOperator, OperatorVersion, readKudoPackage } from "@konverge/declarative";
import { CustomResourceDefinition } from "@konverge/kinds";
import { Manager, silentLog } from "@konverge/runtime";

/** A folder with a package of these files. */
export function packageFolder(files: Readonly<Record<string, string>>) {
  const path = mkdtempSync(join(tmpdir(), "kudo-"));
  const write = (more: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    }
  };
  write(files);
  return { path, write, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

/** A cluster in which the operator runs. */
export async function kudoCluster(options: ClusterOptions = {}) {
  const cluster = await startCluster(options);
  const { client } = cluster;
  const operator = kudoOperator();
  for (const kind of operator.kinds) await client.create(CustomResourceDefinition, kind.crd() as never);
  const { controllers } = operator.create({ metrics: undefined as never, settings: {}, log: silentLog });
  const manager = new Manager(controllers, { client });
  await manager.start();
  const kind = Instance as KindRef<AnyObject>;
  return {
    cluster,
    client,
    /** Installs a version of a package. */
    async version(path: string) {
      const { version } = readKudoPackage(path);
      await client.create(OperatorVersion, {
        ...version,
        metadata: { ...version.metadata, namespace: "default" },
      } as never);
      return version.metadata.name!;
    },
    async install(name: string, version: string, parameters: object = {}) {
      const spec = { operatorVersion: { name: version }, parameters };
      await client.create(kind, {
        ...Instance.new({ metadata: { name, namespace: "default" }, spec: spec as never }),
      } as never);
      await cluster.settled();
    },
    async change(name: string, spec: object) {
      await client.patch(kind, `default/${name}`, { merge: { spec } });
      await cluster.settled();
    },
    async delete(name: string) {
      await client.delete(kind, `default/${name}`);
      await cluster.settled();
    },
    read: (name: string) => client.get(Instance, `default/${name}`),
    /** The states of a plan and its steps: `COMPLETE: prepare COMPLETE, serve COMPLETE`. */
    async plan(name: string, plan: string) {
      const { status } = await client.get(Instance, `default/${name}`);
      const found = status?.planStatus?.[plan];
      const steps = (found?.phases ?? []).flatMap((phase) =>
        (phase.steps ?? []).map((one) => `${one.name} ${one.status}`),
      );
      return `${found?.status}: ${steps.join(", ")}`;
    },
    async condition(name: string, type: string) {
      const found = findCondition(
        ((await client.get(Instance, `default/${name}`)) as WithConditions).status?.conditions,
        type,
      );
      return found ? `${found.status} ${found.reason}: ${found.message}` : "none";
    },
    [Symbol.asyncDispose]: async () => {
      await manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

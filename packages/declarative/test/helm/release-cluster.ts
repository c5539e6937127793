import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startCluster } from "@konverge/cluster";
import { type AnyObject, findCondition, type KindRef, type KubeObject } from "@konverge/core";
import { type HelmOperatorOptions, helmOperator } from "@konverge/declarative";
import { CustomResourceDefinition } from "@konverge/kinds";
import { Manager, silentLog } from "@konverge/runtime";
import type { Release } from "../../src/helm/release-state.ts";

/** A folder with a chart of these files, and a Chart.yaml. */
export function chartFolder(files: Readonly<Record<string, string>>) {
  const path = mkdtempSync(join(tmpdir(), "chart-"));
  const write = (more: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    }
  };
  write({ "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\n", ...files });
  return { path, write, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

/** A cluster in which an operator of a chart runs. */
export async function releaseCluster(options: HelmOperatorOptions) {
  const cluster = await startCluster();
  const { client } = cluster;
  const start = async (changed: HelmOperatorOptions = options) => {
    const operator = helmOperator(changed);
    for (const kind of operator.kinds) {
      await client.apply(CustomResourceDefinition, kind.crd() as never, { force: true });
    }
    const { controllers } = operator.create({ metrics: undefined as never, settings: {}, log: silentLog });
    const manager = new Manager(controllers, { client });
    await manager.start();
    return { manager, kind: operator.kinds[0] as unknown as KindRef<Release> };
  };
  let running = await start();
  return {
    cluster,
    client,
    /** The operator of another chart takes the place of this one. */
    async restart(changed: HelmOperatorOptions) {
      await running.manager.stop();
      running = await start(changed);
    },
    async create(name: string, spec: object = {}) {
      const { group, version, kind } = running.kind;
      const object = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace: "default" }, spec };
      await client.create(running.kind, object as Release);
      await cluster.settled();
    },
    async change(name: string, spec: object) {
      await client.patch(running.kind as KindRef<AnyObject>, `default/${name}`, { merge: { spec } });
      await cluster.settled();
    },
    async delete(name: string) {
      await client.delete(running.kind, `default/${name}`);
      await cluster.settled();
    },
    read: (name: string) => client.get(running.kind, `default/${name}`),
    [Symbol.asyncDispose]: async () => {
      await running.manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** A condition as `status reason: message`. */
export function conditionOf({ status }: Release, type: string): string {
  const found = findCondition(status?.conditions, type);
  return found ? `${found.status} ${found.reason}: ${found.message}` : "none";
}

/** The names of objects. */
export const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

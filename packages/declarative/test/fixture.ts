import { startCluster } from "@konverge/cluster";
import { type AnyObject, findCondition, type KindRef, type KubeObject, type WithConditions } from "@konverge/core";
import { graphsFromYaml, kroOperator, ResourceGraphDefinition } from "@konverge/declarative";
import { CustomResourceDefinition } from "@konverge/kinds";
import { Manager, silentLog } from "@konverge/runtime";

/** A cluster in which the operator runs. */
export async function kroCluster() {
  const cluster = await startCluster();
  const { client } = cluster;
  await client.create(CustomResourceDefinition, ResourceGraphDefinition.crd() as never);
  const start = async () => {
    const { controllers } = kroOperator().create({ metrics: undefined as never, settings: {}, log: silentLog });
    const manager = new Manager(controllers, { client });
    await manager.start();
    return manager;
  };
  const manager = await start();
  /** Creates an object of whichever kind. */
  const create = async (object: object) => {
    const kind = (await client.mapper.resolve(object as KubeObject)) as KindRef<AnyObject>;
    await client.create(kind, object as never);
    return kind;
  };
  return {
    cluster,
    client,
    manager,
    start,
    create,
    async graph(yaml: string) {
      for (const graph of graphsFromYaml(yaml)) await client.create(ResourceGraphDefinition, graph);
      await cluster.settled();
    },
    [Symbol.asyncDispose]: async () => {
      await manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** A condition as `status reason: message`. */
export function conditionOf(object: object, type: string): string {
  const found = findCondition((object as WithConditions).status?.conditions, type);
  return found ? `${found.status} ${found.reason}: ${found.message}` : "none";
}

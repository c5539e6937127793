import type { Client } from "@konverge/client";
import { ApiError } from "@konverge/core";
import { Lease, Node, Pod } from "@konverge/kinds";
import { maybe } from "./apply-objects.ts";
import { untilDefined } from "./waiting.ts";

/** How nodes of the embedded cluster name the runtime that only seems to run containers. */
const SIMULATED = "konverge://";
/** How long an operator may take from being ready to acquiring its lease, in milliseconds. */
const PATIENCE = 30_000;

export const isSimulated = ({ status }: Node): boolean =>
  status?.nodeInfo?.containerRuntimeVersion?.startsWith(SIMULATED) ?? false;

/** Whether all nodes of a cluster are simulated: they run an image only if the cluster has a program for it. */
export async function hasSimulatedNodesOnly(client: Client): Promise<boolean> {
  const { items } = await client.list(Node).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 403) return { items: [] };
    throw error;
  });
  return items.length > 0 && items.every(isSimulated);
}

/**
 * Fails if nothing runs in the pods of an operator on simulated nodes. There a Deployment becomes available whatever its image
 * is; an operator that runs holds its lease.
 */
export async function checkRunning(client: Client, name: string, namespace: string, image: string): Promise<void> {
  const leads = await untilDefined(client.clock, PATIENCE, async () => {
    const lease = (await maybe(client, Lease, `${namespace}/${name}`)) as Lease | undefined;
    const { items } = await client.list(Pod, { namespace, labelSelector: `app=${name}` });
    return items.some(({ metadata }) => metadata.name === lease?.spec?.holderIdentity) ? true : undefined;
  });
  if (leads) return;
  throw new Error(
    `deployment.apps/${name} appears available, but nothing runs in its pods: the nodes are simulated, and the cluster has no program for the image ${image}\n` +
      `Start the cluster with the operator, and deploy it without --image: npx konverge up --operators ${name}\n` +
      `Or start it with a program for the image: npx konverge up --program '${image}=COMMAND'`,
  );
}

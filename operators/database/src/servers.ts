import type { ReconcileContext } from "konverge";
import { ConfigMap, PersistentVolumeClaim, Pod, Secret, type StatefulSet } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";
import { failedCreateMessage, type WorkloadProblem, workloadProblem } from "konverge/pods";
import type { Database } from "./database.ts";
import { configurationDigest } from "./database-children.ts";
import { declaredDigest } from "./declared.ts";
import { ignoreDeleted, ignoreMissing } from "./ignore-missing.ts";
import type { Member } from "./leadership.ts";
import { type Leases, lifeOf } from "./leases.ts";
import { isRunning, memberOf } from "./members.ts";
import { claimName, configName, declaredName, podName, ROLE, topologyName } from "./names.ts";
import type { AskServer } from "./server-report.ts";
import type { Topology } from "./topology.ts";

/** On a pod: what it has been notified of. A change of a pod makes its node update mounted files at once. */
const TERM = "databases.example.com/term";

/** All servers, as their pods are and as they say themselves. The lease of the one that leads is extended. */
export async function askServers(
  database: Database,
  topology: Topology,
  count: number,
  ways: { readonly ask: AskServer | undefined; readonly leases: Leases },
  { cache, client, clock, callExternal }: ReconcileContext,
): Promise<Member[]> {
  const { ask, leases } = ways;
  const { namespace, name: ofDatabase } = database.metadata;
  const key = `${namespace}/${ofDatabase}`;
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const name = podName(database, index);
      const pod = cache.get(Pod, `${namespace}/${name}`);
      if (!pod || !ask || !isRunning(pod)) return memberOf(name, pod, undefined);
      const query = async (grant: string | undefined) => {
        const said = await callExternal(`status of ${name}`, async () => (await ask(pod, client, clock, grant)) ?? "");
        const member = memberOf(name, pod, said);
        leases.heard(key, member);
        return member;
      };
      const grantNow = () => (count > 1 ? leases.grant(key, memberOf(name, pod, undefined), topology) : undefined);
      const grant = grantNow();
      const member = await query(grant);
      // The first token that a container reports is returned at once: without a lease, its server does not start as the primary.
      const next = grantNow();
      return next !== undefined && lifeOf(next) !== lifeOf(grant) ? query(next) : member;
    }),
  );
}

/** A server as the API server knows it now, not as it was. */
export async function liveMember(database: Database, member: Member, { client }: ReconcileContext): Promise<Member> {
  const pod = await client.get(Pod, `${database.metadata.namespace}/${member.name}`).catch(ignoreMissing);
  return { ...memberOf(member.name, pod, undefined), report: member.report };
}

/** Deletes a pod, if it is still that one. */
export async function removePod(
  database: Database,
  { name, uid }: { name: string; uid: string },
  { client }: ReconcileContext,
): Promise<void> {
  const options = { preconditions: { uid } };
  // Direct writes: the pods belong to the StatefulSet; they are deleted in the order of a rollout, and labeled by their
  // role.
  await client.delete(Pod, `${database.metadata.namespace}/${name}`, options).catch(ignoreDeleted);
}

/**
 * Says on each pod what it is, by which Services find it, and the term. A pod stops being the primary as soon as that is
 * decided, and becomes it only when that is written down: there are never two.
 */
export async function labelPods(
  database: Database,
  written: Topology,
  next: Topology,
  members: readonly Member[],
  { cache, client, observed }: ReconcileContext,
): Promise<void> {
  const roleOf = (name: string) => (name === written.primary && name === next.primary ? "primary" : "standby");
  const config = observed(ConfigMap, configName(database));
  const configuration = config ? configurationDigest(config).slice(0, 8) : "";
  const [, fenced = ""] =
    /^fenced='(.*)'$/m.exec(observed(ConfigMap, topologyName(database))?.data?.["topology"] ?? "") ?? [];
  const declared = declaredDigest(observed(Secret, declaredName(database)))?.slice(0, 8);
  // A primary that is about to hand over makes a checkpoint; a server that restarts is one of all.
  const { prepared, restart } = written;
  const markOf = (name: string) => {
    const isFenced = fenced.split(" ").includes(name);
    const orders = [
      isFenced && "fenced",
      name === written.primary && prepared?.since,
      name === restart?.name && restart.since,
    ];
    return [written.term, ...orders.filter((order) => order), configuration, ...(declared ? [declared] : [])].join(" ");
  };
  const pods = members.flatMap(({ name }) => cache.get(Pod, `${database.metadata.namespace}/${name}`) ?? []);
  const changed = pods.filter(({ metadata: { name, labels, annotations } }) => {
    return labels?.[ROLE] !== roleOf(name) || annotations?.[TERM] !== markOf(name);
  });
  const sorted = changed.sort((a, b) => roleOf(b.metadata.name).localeCompare(roleOf(a.metadata.name)));
  for (const { metadata } of sorted) {
    const labels = { [ROLE]: roleOf(metadata.name) };
    const patch = {
      merge: { metadata: { uid: metadata.uid!, labels, annotations: { [TERM]: markOf(metadata.name) } } },
    };
    // A conflict is not ignored: the next pod must not become the primary before this one has stopped being it.
    await client.patch(Pod, `${metadata.namespace}/${metadata.name}`, patch).catch(ignoreMissing);
  }
}

/** Why servers do not start. Problems of the primary are reported before those of the others. */
export async function serverProblem(
  { metadata }: Database,
  names: readonly string[],
  servers: StatefulSet | undefined,
  { cache, client, clock }: ReconcileContext,
): Promise<WorkloadProblem | undefined> {
  const pods = names.flatMap((name) => cache.get(Pod, `${metadata.namespace}/${name}`) ?? []);
  const areMissing = servers && (servers.status?.replicas ?? 0) < (servers.spec?.replicas ?? 0);
  const creationError = areMissing ? await failedCreateMessage(client, servers) : undefined;
  return workloadProblem({ pods, creationError, now: clock.now() });
}

/** The uids of pods that are not of the newest revision. */
export function outdatedPods(
  database: Database,
  servers: StatefulSet | undefined,
  { cache }: Pick<ReconcileContext, "cache">,
): Set<string> {
  const { updateRevision, observedGeneration } = servers?.status ?? {};
  if (!updateRevision || observedGeneration !== servers?.metadata.generation) return new Set();
  const { namespace, name } = database.metadata;
  const outdated = cache
    .list(Pod, namespace)
    .filter(({ metadata: { labels } }) => labels?.["database-name"] === name)
    .filter(({ metadata: { labels } }) => labels?.["controller-revision-hash"] !== updateRevision);
  return new Set(outdated.map(({ metadata }) => metadata.uid ?? ""));
}

/** The claims of all servers, by their number. */
export function claimsOf(database: Database, count: number, { cache }: Pick<ReconcileContext, "cache">) {
  const { namespace } = database.metadata;
  return Array.from({ length: count }, (_, index) =>
    cache.get(PersistentVolumeClaim, `${namespace}/${claimName(database, index)}`),
  ).filter((claim) => claim !== undefined);
}

/** The smallest of the volumes' sizes: what each of them has. */
export function capacityOf(claims: readonly PersistentVolumeClaim[]): string | undefined {
  const sizes = claims.flatMap(({ status }) => status?.capacity?.["storage"] ?? []).map(String);
  if (sizes.length === 0) return undefined;
  return sizes.reduce((a, b) => (parseQuantity(b).cmp(parseQuantity(a)) < 0 ? b : a));
}

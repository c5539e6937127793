import type { Client } from "@konverge/client";
import type { KindRef, KubeObject } from "@konverge/core";
import { operators } from "@konverge/operators";
import {
  ConfigMap,
  Deployment,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
} from "konverge/kinds";

const CHILDREN = [ConfigMap, Deployment, Job, NetworkPolicy, PersistentVolumeClaim, Pod, Secret, Service, StatefulSet];

interface Reported extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly state?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

/** What the objects of a namespace have come to: their conditions and phases, and which children there are. */
export async function outcomeIn(client: Client, namespace: string): Promise<Map<string, string>> {
  const outcome = new Map<string, string>();
  for (const kind of operators.flatMap(({ kinds }) => kinds)) {
    if (!kind.namespaced) continue;
    for (const object of await objectsOf(client, kind, namespace)) {
      outcome.set(`${kind.kind} ${object.metadata.name}`, stateOf(object));
    }
  }
  for (const kind of CHILDREN) {
    const names = (await objectsOf(client, kind, namespace)).map(({ metadata }) => lasting(metadata.name!));
    outcome.set(`${kind.kind}s`, names.sort().join(" "));
  }
  return outcome;
}

async function objectsOf(client: Client, kind: KindRef<KubeObject>, namespace: string): Promise<Reported[]> {
  return (await client.list(kind, { namespace })).items;
}

function stateOf({ status = {} }: Reported): string {
  const conditions = status.conditions?.map(({ type, status, reason }) => `${type}=${status}(${reason})`) ?? [];
  return [status.phase, status.state, ...conditions.sort()].filter(Boolean).join(" ");
}

/** A name without what is generated: suffixes, and hashes of contents. */
const lasting = (name: string) =>
  name.replace(/-[0-9a-f]{8,10}(?=-|$)/g, "").replace(/-[bcdfghjklmnpqrstvwxz2456789]{5}$/, "");

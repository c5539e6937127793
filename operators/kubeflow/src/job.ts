import type { KubeObject } from "konverge";
import type { Container, PodTemplateSpec } from "konverge/kinds";
import type { Framework } from "./framework.ts";
import type { JobStatus, ReplicaSpec, RestartPolicy, RunPolicy } from "./job-fields.ts";

/** What the objects of all four kinds have in common. */
export interface JobObject extends KubeObject {
  spec: { runPolicy?: RunPolicy };
  status?: JobStatus;
}

/** The pods of one type of a job, with what users may leave out filled in. */
export interface Replica {
  /** As upstream writes it: `Worker`. */
  readonly type: string;
  readonly count: number;
  readonly restartPolicy: RestartPolicy;
  readonly template: PodTemplateSpec;
}

/** A job as the operator sees it, whichever framework it is for. */
export interface Job<T extends JobObject = JobObject> {
  readonly object: T;
  readonly name: string;
  readonly namespace: string;
  /** In the order of the framework's types, others after them. */
  readonly replicas: readonly Replica[];
  readonly runPolicy: Partial<RunPolicy>;
  readonly status: JobStatus;
}

/** Reads a job: types may be written in any case, and much may be left out. */
export function jobOf<T extends JobObject>(object: T, framework: Framework<T>): Job<T> {
  const { types, restartPolicy } = framework;
  const place = (type: string) => (types.includes(type) ? types.indexOf(type) : types.length);
  const replicas = Object.entries(framework.replicaSpecs(object))
    .map(([given, spec]) => {
      const type = types.find((known) => known.toLowerCase() === given.toLowerCase()) ?? given;
      const template = withPort(spec, framework);
      return { type, count: spec.replicas ?? 1, restartPolicy: spec.restartPolicy ?? restartPolicy, template };
    })
    .sort((a, b) => place(a.type) - place(b.type));
  const { name, namespace = "" } = object.metadata;
  return { object, name, namespace, replicas, runPolicy: object.spec.runPolicy ?? {}, status: object.status ?? {} };
}

export function replicaOf({ replicas }: Job, type: string): Replica | undefined {
  return replicas.find((replica) => replica.type === type);
}

/** How many pods a job has in all. */
export function sizeOf({ replicas }: Job): number {
  return replicas.reduce((sum, { count }) => sum + count, 0);
}

/** The port by which the pods of a type find each other; undefined if there is no container to have it. */
export function portOf(replica: Replica | undefined, { container, port }: Framework): number | undefined {
  const main = replica?.template.spec?.containers.find(({ name }) => name === container);
  return main?.ports?.find(({ name }) => name === port.name)?.containerPort;
}

/** The framework's container gets the framework's port, unless it has one of that name. */
function withPort({ template = {} }: ReplicaSpec, { container, port }: Framework): PodTemplateSpec {
  const containers = template.spec?.containers ?? [];
  const main = containers.find(({ name }) => name === container) ?? containers[0];
  if (!main || main.ports?.some(({ name }) => name === port.name)) return template;
  const ports = [...(main.ports ?? []), { name: port.name, containerPort: port.number }];
  const completed = containers.map((one): Container => (one === main ? { ...one, ports } : one));
  return { ...template, spec: { ...template.spec, containers: completed } };
}

import type { Container, PodTemplateSpec } from "konverge/kinds";
import type { Framework } from "./framework.ts";
import type { Job, JobObject, Replica } from "./job.ts";
import type { ReplicaSpec } from "./job-fields.ts";

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

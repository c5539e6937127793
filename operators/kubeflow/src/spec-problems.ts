import type { FieldError } from "konverge";
import { dns1035LabelErrors } from "konverge/objects";
import { fieldForbidden, fieldInvalid, fieldRequired } from "konverge/webhooks";
import type { Framework } from "./framework.ts";
import type { JobObject } from "./job.ts";
import type { ReplicaSpec } from "./job-fields.ts";
import { replicaName } from "./names.ts";

/** What a kind wants besides: given the replicas by their types, and where they are. */
export interface Rules {
  /** Only the framework's types, written as it writes them. */
  readonly onlyKnownTypes?: boolean;
  /** A type of which there must be exactly one, if there is any; `required`: there must be one. */
  readonly single?: { readonly type: string; readonly required?: boolean };
  /** Types of which only one may be there. */
  readonly exclusive?: { readonly types: readonly string[]; readonly message: string };
}

const LONGEST_NAME = 63;

/** What is wrong with a job beyond what its CRD can say, worded as upstream's webhooks word it. */
export function specProblems<T extends JobObject>(object: T, framework: Framework<T>, rules: Rules): FieldError[] {
  const path = framework.replicaSpecsPath;
  const { single, exclusive } = rules;
  const specs = Object.entries(framework.replicaSpecs(object) ?? {});
  const problems = [
    ...nameProblems(object, framework),
    ...specs.flatMap(([type, spec]) => replicaProblems(type, spec)),
  ];
  if (single?.required && !specs.some(([type]) => type === single.type)) {
    problems.push(fieldRequired(`${path}[${single.type}]`, "must be present"));
  }
  if (exclusive && specs.filter(([type]) => exclusive.types.includes(type)).length > 1) {
    problems.push(fieldForbidden(path, exclusive.message));
  }
  if (specs.length === 0) problems.push(fieldRequired(path, "must be required"));
  return problems;

  function replicaProblems(type: string, { template, replicas }: ReplicaSpec): FieldError[] {
    const at = `${path}[${type}]`;
    const containersAt = `${at}.template.spec.containers`;
    const containers = template?.spec?.containers ?? [];
    const found: FieldError[] = [];
    if (rules.onlyKnownTypes && !framework.types.includes(type)) found.push(notSupported(at, type, framework.types));
    if (containers.length === 0) found.push(fieldRequired(containersAt, "must be specified"));
    for (const [index, { image }] of containers.entries()) {
      if (!image) found.push(fieldRequired(`${containersAt}[${index}].image`, "must be required"));
    }
    if (!containers.some(({ name }) => name === framework.container)) {
      found.push(fieldRequired(containersAt, `must have at least one container with name ${framework.container}`));
    }
    if (single?.type === type && replicas !== 1) found.push(fieldForbidden(`${at}.replicas`, "must be 1"));
    return found;
  }
}

/** Pods and Services are called after their job, and Services' names are short. */
function nameProblems<T extends JobObject>(object: T, framework: Framework<T>): FieldError[] {
  const { name } = object.metadata;
  // A name that is yet to be generated is judged when it is there.
  if (!name) return [];
  const wrong = dns1035LabelErrors(name);
  if (wrong.length > 0) return [fieldInvalid("metadata.name", name, `should match: ${wrong.join(",")}`)];
  const names = Object.entries(framework.replicaSpecs(object) ?? {}).map(([type, { replicas = 1 }]) =>
    replicaName(name, type, Math.max(0, replicas - 1)),
  );
  const tooLong = names.find((one) => one.length > LONGEST_NAME);
  if (!tooLong) return [];
  const why = `its Service ${tooLong} would have a name of more than ${LONGEST_NAME} characters`;
  return [fieldInvalid("metadata.name", name, why)];
}

export function notSupported(field: string, value: string, supported: readonly string[]): FieldError {
  const values = supported.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${values}`;
  return { reason: "FieldValueNotSupported", field, message };
}

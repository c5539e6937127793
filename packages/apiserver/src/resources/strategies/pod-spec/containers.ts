import { append, dns1123LabelErrors, type FieldError, portNameErrors, portNumberErrors } from "@konverge/core";
import { duplicate, forbidden, invalidValue, required } from "@konverge/schema";
import type { Container, ContainerPort, EphemeralContainer, PodSpec, Volume } from "../../../codec/objects.ts";
import { named, notFoundValue, oneOf, optionallyOneOf } from "./checks.ts";
import { envErrors, envFromErrors } from "./env.ts";
import { lifecycleErrors, probeErrors } from "./probes.ts";
import { requirementErrors } from "./requirements.ts";
import { securityContextErrors } from "./security.ts";
import { deviceErrors, mountErrors } from "./volume-mounts.ts";

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

/** All that is wrong with the containers of a pod: those that run, those that come first, those that look in. */
export function containersErrors(spec: PodSpec, field: string, volumes: ReadonlyMap<string, Volume>): FieldError[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const errors: FieldError[] = [];
  if (!containers?.length) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  (containers ?? []).forEach((container, index) => {
    const at = `${field}.containers[${index}]`;
    append(errors, containerErrors(container, at, volumes, claims));
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    append(errors, runningErrors(container, at));
    append(errors, optionallyOneOf(`${at}.restartPolicy`, container.restartPolicy, ["Always", "OnFailure", "Never"]));
  });
  append(errors, hostPortErrors(containers ?? [], `${field}.containers`));
  initContainers.forEach((container, index) => {
    const at = `${field}.initContainers[${index}]`;
    append(errors, containerErrors(container, at, volumes, claims));
    append(errors, optionallyOneOf(`${at}.restartPolicy`, container.restartPolicy, ["Always", "OnFailure", "Never"]));
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    else if (container.name) names.add(container.name);
    if (container.restartPolicy === "Always") append(errors, runningErrors(container, at));
    else {
      const detail = "may not be set for init containers without restartPolicy=Always";
      for (const name of ["lifecycle", ...PROBES] as const) {
        if (container[name]) errors.push(forbidden(`${at}.${name}`, detail));
      }
    }
  });
  ephemeralContainers.forEach((container, index) => {
    const at = `${field}.ephemeralContainers[${index}]`;
    append(errors, ephemeralErrors(container, at, volumes, names, containers ?? []));
  });
  return errors;
}

/** The names of the ports of all containers must not clash, within a pod that is about to be created. */
function hostPortErrors(containers: readonly Container[], field: string): FieldError[] {
  const listed = new Set<string>();
  return containers.flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ hostPort, hostIP = "", protocol = "" }, index) => {
      if (!hostPort) return [];
      const key = `${protocol}/${hostIP}/${hostPort}`;
      const clash = listed.has(key);
      listed.add(key);
      return clash ? [duplicate(`${field}[${container}].ports[${index}].hostPort`, key)] : [];
    }),
  );
}

function containerErrors(
  container: Container,
  field: string,
  volumes: ReadonlyMap<string, Volume>,
  claims: ReadonlySet<string>,
): FieldError[] {
  const { name = "", image = "" } = container;
  const policies = ["File", "FallbackToLogsOnError"];
  return [
    ...(name === "" ? [required(`${field}.name`)] : named(`${field}.name`, name, dns1123LabelErrors(name))),
    ...(image === "" ? [required(`${field}.image`)] : []),
    ...oneOf(`${field}.terminationMessagePolicy`, container.terminationMessagePolicy, policies),
    ...portsErrors(container.ports ?? [], `${field}.ports`),
    ...envErrors(container.env ?? [], `${field}.env`),
    ...envFromErrors(container.envFrom ?? [], `${field}.envFrom`),
    ...mountErrors(container, `${field}.volumeMounts`, volumes),
    ...deviceErrors(container, `${field}.volumeDevices`, volumes),
    ...oneOf(`${field}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES),
    ...requirementErrors(container.resources, `${field}.resources`, claims),
    ...securityContextErrors(container.securityContext, `${field}.securityContext`),
  ];
}

function runningErrors(container: Container, field: string): FieldError[] {
  return [
    ...lifecycleErrors(container.lifecycle, `${field}.lifecycle`),
    ...PROBES.flatMap((name) => {
      const probe = container[name];
      if (!probe) return [];
      const errors = probeErrors(probe, `${field}.${name}`);
      if (name !== "readinessProbe" && probe.successThreshold !== 1) {
        errors.push(invalidValue(`${field}.${name}.successThreshold`, probe.successThreshold ?? 0, "must be 1"));
      }
      if (name === "readinessProbe" && probe.terminationGracePeriodSeconds !== undefined) {
        const detail = "must not be set for readinessProbes";
        errors.push(
          invalidValue(`${field}.${name}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, detail),
        );
      }
      return errors;
    }),
  ];
}

function portsErrors(ports: readonly ContainerPort[], field: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const { name = "", containerPort, hostPort } = port;
    const errors: FieldError[] = [];
    if (name !== "") {
      const details = portNameErrors(name);
      append(errors, named(`${at}.name`, name, details));
      if (details.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    if (!containerPort) errors.push(required(`${at}.containerPort`));
    else {
      for (const detail of portNumberErrors(containerPort)) {
        errors.push(invalidValue(`${at}.containerPort`, containerPort, detail));
      }
    }
    if (hostPort) {
      for (const detail of portNumberErrors(hostPort)) errors.push(invalidValue(`${at}.hostPort`, hostPort, detail));
    }
    return [...errors, ...oneOf(`${at}.protocol`, port.protocol, ["SCTP", "TCP", "UDP"])];
  });
}

const NOT_EPHEMERAL = ["ports", "resources", "lifecycle", ...PROBES] as const;

function ephemeralErrors(
  container: EphemeralContainer,
  field: string,
  volumes: ReadonlyMap<string, Volume>,
  names: Set<string>,
  containers: readonly Container[],
): FieldError[] {
  const errors = containerErrors(container as Container, field, volumes, new Set());
  const { name = "", targetContainerName = "" } = container;
  if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
  names.add(name);
  if (targetContainerName !== "" && !containers.some((other) => other.name === targetContainerName)) {
    errors.push(notFoundValue(`${field}.targetContainerName`, targetContainerName));
  }
  for (const property of NOT_EPHEMERAL) {
    const value = (container as Container)[property];
    const isSet = Array.isArray(value) ? value.length > 0 : value && Object.keys(value).length > 0;
    if (isSet) errors.push(forbidden(`${field}.${property}`, "cannot be set for an Ephemeral Container"));
  }
  container.volumeMounts?.forEach((mount, index) => {
    for (const property of ["subPath", "subPathExpr"] as const) {
      const at = `${field}.volumeMounts[${index}].${property}`;
      if (mount[property]) errors.push(forbidden(at, "cannot be set for an Ephemeral Container"));
    }
  });
  return errors;
}

import { append, parseQuantity } from "@konverge/core";
import type { Container, PodSpec } from "../../../codec/objects.ts";

/** What a server warns about in a pod's spec, or in one in a template: what is allowed, and hardly meant. */
export function podSpecWarnings(spec: PodSpec, field: string): string[] {
  const warnings: string[] = [];
  spec.imagePullSecrets?.forEach(({ name }, index) => {
    if (!name) warnings.push(`${field}.imagePullSecrets[${index}].name: invalid empty name ""`);
  });
  const names = new Set<string>();
  spec.hostAliases?.forEach(({ ip = "" }, index) => {
    if (names.has(ip)) warnings.push(`${field}.hostAliases[${index}].ip: duplicates an earlier entry for "${ip}"`);
    names.add(ip);
  });
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  for (const list of ["initContainers", "containers"] as const) {
    (spec[list] ?? []).forEach((container, index) => {
      append(warnings, containerWarnings(container, `${field}.${list}[${index}]`));
    });
  }
  return warnings;
}

function containerWarnings({ resources, env = [], ports = [] }: Container, field: string): string[] {
  const warnings: string[] = [];
  for (const [of, list] of [
    ["limits", resources?.limits],
    ["requests", resources?.requests],
  ] as const) {
    for (const name of ["ephemeral-storage", "memory"]) {
      const amount = list?.[name];
      if (amount === undefined || parseQuantity(String(amount)).milliValue() % 1000n === 0n) continue;
      warnings.push(
        `${field}.resources.${of}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
      );
    }
  }
  const variables = new Set<string>();
  env.forEach(({ name, value }, index) => {
    if (variables.has(name) && !(value ?? "").includes(`$(${name})`)) {
      warnings.push(
        `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      );
    }
    variables.add(name);
  });
  const numbers = new Map<string, number>();
  ports.forEach(({ containerPort, protocol }, index) => {
    const key = `${protocol}/${containerPort}`;
    const earlier = numbers.get(key);
    if (earlier === undefined) numbers.set(key, index);
    else warnings.push(`${field}.ports[${index}]: duplicate port definition with ${field}.ports[${earlier}]`);
  });
  return warnings;
}

import type { Client } from "@konverge/client";
import { isAlreadyExists, sleep } from "@konverge/core";
import { Namespace } from "@konverge/kinds";
import {
  comparePermissions,
  Metrics,
  type Operator,
  operatorPermissions,
  type Permission,
  PermissionRecorder,
  permissionText,
  rolesFor,
  silentLog,
} from "@konverge/runtime";
import type { FaultInjector } from "@konverge/testing";

const HOME = "judged-system";
const PATIENCE = 60_000;

/**
 * Records what an operator does on a real control plane with exactly its role, and has the server evaluate each of its rules.
 *
 * Guarantees: every verb of the role was used by the scenarios (except for those declared as rarely needed); and without any
 * one of the rules, the server does not allow what was used. So a missing rule makes a scenario fail, and a superfluous rule
 * is reported.
 */
export class RoleWitness {
  readonly #operator: Operator;
  readonly #recorder = new PermissionRecorder();

  constructor(operator: Operator) {
    this.#operator = operator;
  }

  /** Records the requests of a scenario. */
  get recorder(): FaultInjector {
    return { around: this.#recorder.transport };
  }

  /** What is wrong with the role; how many of its rules were judged. */
  async findings(client: Client): Promise<{ tried: number; problems: readonly string[] }> {
    const declared = declaredBy(this.#operator);
    const { superfluous } = comparePermissions(declared, this.#recorder.permissions({ byNamespace: true }));
    const problems = superfluous.map((access) => `the role allows what no scenario needs: ${permissionText(access)}`);
    await client.create(Namespace, { metadata: { name: HOME } }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    await give(client, "whole", declared);
    const rules = Map.groupBy(declared, ({ group, resource, name }) => JSON.stringify([group, resource, name]));
    for (const [index, rule] of [...rules.values()].entries()) {
      const left = declared.filter((access) => !rule.includes(access));
      const lacking = `lacks-${index}`;
      await give(client, lacking, left);
      for (const access of rule) {
        if (!(await allows(client, "whole", access)))
          problems.push(`the role does not allow: ${permissionText(access)}`);
        if (await allows(client, lacking, access))
          problems.push(`it is allowed without its rule, too: ${permissionText(access)}`);
      }
    }
    return { tried: rules.size, problems };
  }
}

function declaredBy(operator: Operator): Permission[] {
  const { registry } = new Metrics({ process: false });
  const settings = Object.fromEntries((operator.settings ?? []).map(({ flag, default: value }) => [flag, value]));
  return operatorPermissions(operator, operator.create({ metrics: registry, settings, log: silentLog }), {
    operatorNamespace: HOME,
  });
}

/** Makes roles for an account of that name, and waits until they are in force, in the whole cluster and in each namespace. */
async function give(client: Client, name: string, accesses: readonly Permission[]): Promise<void> {
  for (const role of rolesFor(accesses, { name: `judged-${name}`, serviceAccount: { name, namespace: HOME } })) {
    await client.create(await client.mapper.resolve(role), role as never);
  }
  const places = new Map(accesses.map((access) => [access.namespace, access]));
  const deadline = client.clock.monotonic() + PATIENCE;
  for (const access of places.values()) {
    while (!(await allows(client, name, access))) {
      if (client.clock.monotonic() > deadline) throw new Error(`the role ${name} never came into force`);
      await sleep(client.clock, 50);
    }
  }
}

async function allows(client: Client, name: string, access: Permission): Promise<boolean> {
  const [plural = "", subresource] = access.resource.split("/");
  const { allowed } = await client.canI(
    {
      verb: access.verb,
      kind: { group: access.group, plural },
      ...(subresource && { subresource }),
      ...(access.namespace && { namespace: access.namespace }),
      ...(access.name && { name: access.name }),
    },
    { who: { user: `system:serviceaccount:${HOME}:${name}` } },
  );
  return allowed;
}

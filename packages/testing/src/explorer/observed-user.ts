import type { Client } from "@konverge/client";
import type { AnyObject, KindRef, KubeObject } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import type { OperatorTestEnvironment } from "../environment/operator-test-environment.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import type { FaultPlane } from "./fault-plane.ts";
import { throwIfReached } from "./limits.ts";
import { resourceOf } from "./request-words.ts";
import type { World } from "./world.ts";

const WRITES = new Set([
  "apply",
  "create",
  "delete",
  "patch",
  "update",
  "applyStatus",
  "patchStatus",
  "updateStatus",
  "scale",
]);

/** Something that the user has waited for. */
export interface UserWait {
  readonly what: string;
  /** The user did not wait long enough for it. */
  readonly isSkipped: boolean;
  condition(): Promise<boolean> | boolean;
}

/**
 * The same test environment, in which each write of the scenario is a point of the run, and a wait can end early because the
 * user is impatient.
 */
export function observedUser(
  environment: OperatorTestEnvironment,
  plane: FaultPlane,
  world: World,
  started: (operator: Parameters<TestEnvironment["start"]>[0]) => void,
  reached?: () => string | undefined,
  waited: (wait: UserWait) => void = () => {},
): TestEnvironment {
  const writing = async <T>(what: string, write: () => Promise<T>): Promise<T> => {
    throwIfReached(reached);
    await plane.userWrites(what);
    try {
      return await world.writing("user", { resource: "*", name: undefined }, write);
    } finally {
      plane.userHasWritten();
    }
  };
  const client = new Proxy(environment.client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (!WRITES.has(String(name))) return value.bind(target);
      return (...args: unknown[]) =>
        writing(`${String(name)} ${objectText(args)}`, () => value.apply(target, args) as Promise<unknown>);
    },
  }) as Client;
  const own: Partial<TestEnvironment> = {
    client,
    start(operator, options) {
      started(operator);
      return environment.start(operator, options);
    },
    apply: (yaml) => writing(`apply ${documentText(yaml)}`, () => environment.apply(yaml)),
    async until(what, condition, timeout) {
      waited({ what, condition, isSkipped: true });
      if (await plane.userWaits(what)) return;
      let isSkipped = false;
      await environment.until(
        what,
        async () => {
          throwIfReached(reached);
          isSkipped = plane.stopsWaiting();
          return isSkipped || (await condition());
        },
        // The user knows that nothing happens while the operator is down.
        timeout === undefined ? undefined : timeout + plane.downFor,
      );
      waited({ what, condition, isSkipped });
    },
  };
  return new Proxy(environment as TestEnvironment, {
    get(target, name) {
      const instead = own[name as keyof TestEnvironment];
      if (instead !== undefined) return instead;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** `widgets.example.com/w` for the arguments of a verb: a kind, then a key or an object. */
function objectText([kind, about]: readonly unknown[]): string {
  const name =
    typeof about === "string"
      ? about.slice(about.indexOf("/") + 1)
      : ((about as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? "");
  return `${resourceOf(kind as KindRef<KubeObject>)}/${name}`;
}

function documentText(yaml: string | object): string {
  const documents = (typeof yaml === "string" ? parseYaml(yaml) : [yaml]) as AnyObject[];
  return documents.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(", ");
}

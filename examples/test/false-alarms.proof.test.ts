// Each example is a sound operator: whatever checkOperator finds in one of them is a false alarm. In a sample, a quarter of them is
// checked, with a part of the faults.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { assertNoFindings, type CheckOperatorOptions, checkOperator, externalSystem } from "@konverge/dev";
import { type AnyKind, type OperatorParts, operator } from "konverge";
import { sample } from "../../scripts/sample.ts";
import { Settings, settings } from "../01-children/children.ts";
import { Quiz, quizzes } from "../02-status/status.ts";
import { Guest, guests } from "../03-cleanup/cleanup.ts";
import { Login, logins } from "../04-references/references.ts";
import { Rollout, rollouts } from "../05-order/order.ts";
import { Errand, errands } from "../06-errors/errors.ts";
import { Parcel, parcels } from "../07-events/events.ts";
import { Phone, phones } from "../09-external/external.ts";
import { Ship, ships } from "../11-leader/leader.ts";
import { Poster, posters } from "../12-pause/pause.ts";
import { Door, doors } from "../13-rbac/rbac.ts";
import { Plant, plants } from "../14-observability/observability.ts";
import { Tower, towers } from "../15-teardown/teardown.ts";
import { Feed, feeds } from "../17-daemon/daemon.ts";
import { Shop, shops } from "../18-field-changes/field-changes.ts";
import { Garden, gardens } from "../20-takeover/takeover.ts";
import { Site, sites } from "../21-replay/replay.ts";
import { Message, messages } from "../22-conversion/conversion.ts";

interface Checked {
  readonly kind: AnyKind;
  controllers(): OperatorParts["controllers"];
  readonly options?: CheckOperatorOptions;
}

/** A telephone company with its lines. */
class Lines {
  readonly lines = new Map<string, string>();

  async read(number: string) {
    return this.lines.get(number);
  }

  async write(number: string, forwardTo: string) {
    this.lines.set(number, forwardTo);
  }

  async cancel(number: string) {
    this.lines.delete(number);
  }
}

const company = externalSystem(() => new Lines(), { name: "company", resources: ({ lines }) => lines });

const shop = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const errand = (to: string) => Errand.new({ metadata: { name: "sample" }, spec: { shop: to } });

const CHECKED: Readonly<Record<string, Checked>> = {
  "01-children": { kind: Settings, controllers: () => [settings] },
  "02-status": { kind: Quiz, controllers: () => [quizzes] },
  "03-cleanup": { kind: Guest, controllers: () => [guests] },
  "04-references": { kind: Login, controllers: () => [logins] },
  "05-order": { kind: Rollout, controllers: () => [rollouts] },
  // Without its shop, it looks for it every second.
  "06-errors": { kind: Errand, controllers: () => [errands], options: { objects: [shop("grocer"), errand("grocer")] } },
  "07-events": { kind: Parcel, controllers: () => [parcels] },
  "09-external": { kind: Phone, controllers: () => [phones(company)] },
  "11-leader": { kind: Ship, controllers: () => [ships("Ann")] },
  "12-pause": { kind: Poster, controllers: () => [posters] },
  "13-rbac": { kind: Door, controllers: () => [doors] },
  "14-observability": { kind: Plant, controllers: () => [plants] },
  "15-teardown": { kind: Tower, controllers: () => [towers] },
  "17-daemon": { kind: Feed, controllers: () => [feeds({ async *messages() {} })] },
  "18-field-changes": { kind: Shop, controllers: () => [shops(async () => {})] },
  "20-takeover": { kind: Garden, controllers: () => [gardens] },
  "21-replay": { kind: Site, controllers: () => [sites("https")] },
  "22-conversion": { kind: Message, controllers: () => [messages] },
};

/** Examples that are no operator that is checked alone. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "08-webhooks": "it has no controller",
  "10-timer": "an alarm rings on: it never comes to an end that could be compared",
  "16-tenancy": "the permissions of its children are a user's",
  "19-steps": "what a step has made is not repaired, and how often it was tried differs",
  "23-postgresql": "its own test explores it",
};

test("each example is checked, or left out for a reason", () => {
  const folders = globSync("[0-9]*-*", { cwd: new URL("..", import.meta.url).pathname }).sort();
  assert.deepEqual([...Object.keys(CHECKED), ...Object.keys(LEFT_OUT)].sort(), folders);
});

const seed = Number(process.env["KONVERGE_PROOFS_SEED"] ?? 1);
const isSample = process.env["KONVERGE_PROOFS"] === "sample";
const part = isSample ? { every: 5, runs: 4 } : {};
const examples = Object.entries(CHECKED);

for (const [name, { kind, controllers, options }] of isSample ? sample(examples, 4, seed) : examples) {
  test(`checkOperator finds nothing in ${name}`, async () => {
    const checked = operator({
      name: `${name.slice(3)}-operator`,
      description: `The example ${name}.`,
      kinds: [kind],
      create: () => ({ controllers: controllers() }),
    });
    assertNoFindings(await checkOperator(checked, { seed, ...part, ...options }));
  });
}

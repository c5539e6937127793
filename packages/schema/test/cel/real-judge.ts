import type { Schema } from "@konverge/core";
import type { CrdObject } from "../../src/kind/crd-object.ts";
import { CRDS, type JsonBody, type RealServer } from "../real-server.ts";
import { type Judge, masked } from "./corpus/judge.ts";

const GROUP = "cel.example.com";
const DRY = "dryRun=All";

function crdOf(schema: Schema, plural: string): CrdObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: { plural, singular: plural, kind: "Case", listKind: "CaseList" },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/** The same schema with no rules. */
function withoutRules({ "x-kubernetes-validations": _, ...schema }: Schema): Schema {
  const inner = (part: Schema | undefined) => part && withoutRules(part);
  const { additionalProperties: values, properties } = schema;
  return {
    ...schema,
    items: inner(schema.items),
    additionalProperties: typeof values === "object" ? withoutRules(values) : values,
    properties:
      properties && Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, withoutRules(part)])),
  };
}

/** The same schema with one more rule, which shows when rules have come into force. */
function withProbe(schema: Schema): Schema {
  const rules = schema["x-kubernetes-validations"] ?? [];
  return { ...schema, "x-kubernetes-validations": [...rules, { rule: "self.metadata.name != 'probe'" }] };
}

function lines({ status, body }: { status: number; body: JsonBody }): string[] {
  if (status < 300) return [];
  if (status !== 422) throw new Error(`answer ${status}: ${body.message}`);
  return (body.details?.causes ?? []).map(({ field, message }) => masked(`${field}: ${message}`)).sort();
}

/** A real API server as a judge. */
export class RealJudge implements Judge {
  readonly #server: RealServer;
  #kinds = 0;

  constructor(server: RealServer) {
    this.#server = server;
  }

  async refusals(schema: Schema): Promise<string[]> {
    return lines(await this.#server.ask("POST", `${CRDS}?${DRY}`, crdOf(schema, "drafts")));
  }

  /** What objects were before may not satisfy the rules, so it is stored before there are any. */
  async objects(schema: Schema, { created, updated }: Parameters<Judge["objects"]>[1]) {
    const server = this.#server;
    const plural = `cases${this.#kinds++}`;
    const path = `/apis/${GROUP}/v1/${plural}`;
    const object = (name: string, content: object, resourceVersion?: string) => ({
      apiVersion: `${GROUP}/v1`,
      kind: "Case",
      metadata: { name, resourceVersion },
      ...content,
    });
    await server.establish(crdOf(withoutRules(schema), plural));
    const versions: string[] = [];
    for (const [i, [old]] of updated.entries()) {
      const { status, body } = await server.ask("POST", path, object(`a${i}`, old));
      if (status !== 201) throw new Error(`could not be stored: ${body.message}`);
      versions.push((body.metadata as { resourceVersion: string }).resourceVersion);
    }
    const { body: current } = await server.ask("GET", `${CRDS}/${plural}.${GROUP}`);
    const changed = crdOf(withProbe(schema), plural);
    const answer = await server.ask("PUT", `${CRDS}/${plural}.${GROUP}`, { ...current, spec: changed.spec });
    if (answer.status !== 200) throw new Error(`rules were refused: ${answer.body.message}`);
    await server.until("rules to be in force", async () => {
      const { status } = await server.ask("POST", `${path}?${DRY}`, object("probe", {}));
      return status === 422;
    });
    const outcome = { created: [] as string[][], updated: [] as string[][] };
    for (const content of created)
      outcome.created.push(lines(await server.ask("POST", `${path}?${DRY}`, object("a", content))));
    for (const [i, [, content]] of updated.entries()) {
      const body = object(`a${i}`, content, versions[i]);
      outcome.updated.push(lines(await server.ask("PUT", `${path}/a${i}?${DRY}`, body)));
    }
    await server.ask("DELETE", `${CRDS}/${plural}.${GROUP}`);
    return outcome;
  }
}

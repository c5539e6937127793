import { Agent, request } from "node:https";
import { parseJson, realClock, type StatusObject, sleep, WholeFloat } from "@konverge/core";
import { startRealCluster } from "@konverge/real";
import type { AnyCrd } from "../src/kind/crd-object.ts";

/** A kube-apiserver that tests put their questions to, over one connection kept open. */
export class RealServer implements AsyncDisposable {
  readonly #cluster: Awaited<ReturnType<typeof startRealCluster>>;
  readonly #agent: Agent;
  readonly #clock = realClock();

  private constructor(cluster: Awaited<ReturnType<typeof startRealCluster>>) {
    this.#cluster = cluster;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 8, ca: cluster.ca });
  }

  static async start(): Promise<RealServer> {
    return new RealServer(await startRealCluster());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await this.#cluster.stop();
  }

  async ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: JsonBody }> {
    const text = body === undefined ? undefined : requestText(body);
    const answer = await this.askText(method, path, { "content-type": "application/json" }, text);
    return { status: answer.status, body: parse(answer.text) };
  }

  askText(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path, this.#cluster.url),
        {
          method,
          agent: this.#agent,
          headers: { authorization: `Bearer ${this.#cluster.adminToken}`, ...headers },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
          incoming.on("error", reject);
          incoming.on("end", () => {
            resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
          });
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  /** Creates a CRD and waits until its resources are served. */
  async establish(crd: AnyCrd): Promise<void> {
    const created = await this.ask("POST", CRDS, crd);
    if (created.status !== 201) throw new Error(`${crd.metadata.name} was refused: ${created.body.message}`);
    for (const version of crd.spec.versions.filter(({ served }) => served)) {
      const path = `/apis/${crd.spec.group}/${version.name}/${crd.spec.names.plural}?limit=1`;
      await this.until(
        `${crd.metadata.name} ${version.name} to be served`,
        async () => (await this.ask("GET", path)).status === 200,
      );
    }
  }

  /** Waits for a condition of the server's that only asking again can show. */
  async until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    const deadline = this.#clock.monotonic() + 60_000;
    while (!(await isTrue())) {
      if (this.#clock.monotonic() > deadline) throw new Error(`waited a minute for ${what}`);
      await sleep(this.#clock, 50);
    }
  }
}

/** An answer: an object, or a Status. */
export type JsonBody = Record<string, unknown> & Partial<Pick<StatusObject, "message" | "reason" | "details">>;

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function parse(text: string): JsonBody {
  try {
    return parseJson(text) as JsonBody;
  } catch {
    return { message: text };
  }
}

/** JSON in which a {@link WholeFloat} keeps the fraction that makes it one. */
function requestText(body: unknown): string {
  return JSON.stringify(
    body,
    function keepNumbers(this: Record<string, unknown>, key: string, value: unknown): unknown {
      const original = this[key];
      if (original instanceof WholeFloat) return JSON.rawJSON(`${original.value}.0`);
      return typeof value === "bigint" ? JSON.rawJSON(String(value)) : value;
    },
  );
}

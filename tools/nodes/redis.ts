import type { Client } from "@konverge/client";
import { Pod, Secret, Service } from "@konverge/kinds";
import { restrictedPod } from "./pods.ts";

const PASSWORD = { name: "redis", key: "password" };

/** Options of a RayCluster whose head stores its state in {@link Redis}. */
export const IN_REDIS = {
  gcsFaultToleranceOptions: {
    redisAddress: "redis:6379",
    redisPassword: { valueFrom: { secretKeyRef: PASSWORD } },
  },
};

/** A Redis in a namespace, with a password in a Secret, and its command line client. */
export class Redis {
  readonly #client: Client;
  readonly #namespace: string;

  private constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  static async start(client: Client, namespace: string): Promise<Redis> {
    const metadata = { name: "redis", namespace, labels: { app: "redis" } };
    await client.create(Secret, { metadata, stringData: { [PASSWORD.key]: "p w'$HOME" } });
    const container = {
      ...{ name: "redis", image: "redis:7.0", readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 1 } },
      args: ["--requirepass", "$(REDISCLI_AUTH)", "--save", "", "--dir", "/tmp"],
      env: [{ name: "REDISCLI_AUTH", valueFrom: { secretKeyRef: PASSWORD } }],
    };
    await client.create(Pod, { metadata, spec: restrictedPod(container) });
    await client.create(Service, { metadata, spec: { selector: metadata.labels, ports: [{ port: 6379 }] } });
    return new Redis(client, namespace);
  }

  async run(...command: readonly string[]): Promise<string> {
    const process = await this.#client.exec(`${this.#namespace}/redis`, ["redis-cli", ...command]);
    return (await process.output()).stdout;
  }

  async keys(): Promise<string[]> {
    return (await this.run("--scan")).split("\n").filter(Boolean);
  }
}

import assert from "node:assert/strict";
import type { Client } from "@konverge/client";
import { Database } from "@konverge/database-operator";
import { Pod } from "@konverge/kinds";
import { until } from "./waiting.ts";

/** The servers of a Database on real nodes, reached as a user does: through the API and by psql in their pods. */
export class DatabaseServers {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;

  constructor(client: Client, namespace: string, name: string) {
    this.client = client;
    this.namespace = namespace;
    this.name = name;
  }

  get(): Promise<Database> {
    return this.client.get(Database, `${this.namespace}/${this.name}`);
  }

  pod(name: string): Promise<Pod> {
    return this.client.get(Pod, `${this.namespace}/${name}`);
  }

  async pods(): Promise<Pod[]> {
    const { items } = await this.client.list(Pod, { namespace: this.namespace });
    return items.filter(({ metadata }) => new RegExp(`^${this.name}-\\d+$`).test(metadata.name!));
  }

  /** Waits until all servers run and stream; returns the primary's pod. */
  async running(seconds: number): Promise<string> {
    return await until(`${this.name} runs with all its servers`, seconds, async () => {
      const { spec, status } = await this.get();
      if (status?.phase !== "Running" || status.readyInstances !== spec.instances) {
        throw new Error(JSON.stringify(status?.conditions ?? status));
      }
      const servers = status.servers ?? [];
      const standbys = servers.filter(({ role, ready }) => role === "standby" && ready);
      // The status names a primary when it is decided; the server says when it has been promoted, and takes writes. A single
      // server is never promoted, and is not asked.
      const isPromoted =
        spec.instances === 1 || servers.some(({ name, role }) => name === status.currentPrimary && role === "primary");
      return isPromoted && standbys.length === spec.instances - 1 ? status.currentPrimary : undefined;
    });
  }

  async primary(): Promise<string> {
    const { status } = await this.get();
    assert.ok(status?.currentPrimary, "there is a primary");
    return status.currentPrimary;
  }

  /** What a statement prints, run on a server; without a name, on the primary. */
  async sql(statement: string, pod?: string): Promise<string> {
    return await this.psql("postgresql:///postgres?host=/run/database&user=postgres", statement, pod);
  }

  /** What a statement prints, run by a client in a server's pod that connects to a URL. */
  async psql(url: string, statement: string, pod?: string): Promise<string> {
    const key = `${this.namespace}/${pod ?? (await this.primary())}`;
    const command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url, "-c", statement];
    const process = await this.client.exec(key, command, { container: "database" });
    const { code, stdout, stderr } = await process.output();
    assert.equal(code, 0, stderr);
    return stdout.trim();
  }

  switchOver(to: string): Promise<Database> {
    return this.client.patch(Database, `${this.namespace}/${this.name}`, { merge: { spec: { switchoverTo: to } } });
  }
}

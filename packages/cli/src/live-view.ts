import type { Client } from "@konverge/client";
import type { Condition, KindRef, KubeObject, ObjectKey } from "@konverge/core";

interface Row {
  readonly name: string;
  readonly ready: boolean;
  readonly message: string;
}

/** What converges, as a table that is drawn anew on a terminal and printed line by line elsewhere. */
export class LiveView {
  readonly #client: Client;
  readonly #objects: readonly { kind: KindRef<KubeObject>; key: ObjectKey }[];
  #rows: Row[] = [];
  #drawn = 0;
  readonly #printed = new Map<string, string>();

  constructor(client: Client, objects: readonly { kind: KindRef<KubeObject>; key: ObjectKey }[]) {
    this.#client = client;
    this.#objects = objects;
  }

  async refresh(): Promise<void> {
    this.#rows = await Promise.all(this.#objects.map(({ kind, key }) => this.#row(kind, key)));
    if (process.stdout.isTTY) this.#redraw();
    else this.#printChanges();
  }

  converged(): boolean {
    return this.#rows.length > 0 && this.notConverged().length === 0;
  }

  notConverged(): string[] {
    return this.#rows.filter(({ ready }) => !ready).map(({ name, message }) => `${name} (${message})`);
  }

  async #row(kind: KindRef<KubeObject>, key: ObjectKey): Promise<Row> {
    const object = (await this.#client.get(kind, key)) as KubeObject & { status?: { conditions?: Condition[] } };
    const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
    return {
      name: `${kind.kind} ${key}`,
      ready: ready?.status === "True",
      message: ready?.message || ready?.reason || "waiting",
    };
  }

  #redraw(): void {
    if (this.#drawn > 0) process.stdout.write(`\x1b[${this.#drawn}A`);
    for (const { name, ready, message } of this.#rows)
      process.stdout.write(`\x1b[2K${ready ? "✔" : "…"} ${name.padEnd(44)} ${message}\n`);
    this.#drawn = this.#rows.length;
  }

  #printChanges(): void {
    for (const { name, ready, message } of this.#rows) {
      const line = `${ready ? "ready   " : "waiting "} ${name.padEnd(44)} ${message}`;
      if (this.#printed.get(name) !== line) console.log(line);
      this.#printed.set(name, line);
    }
  }
}

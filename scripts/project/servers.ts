import { join } from "node:path";
import { type Client, connect } from "@konverge/client";
import { realClock, sleep } from "@konverge/core";
import { findControlPlane, startRealCluster } from "@konverge/real";
import type { NewProject } from "./new-project.ts";

/** A cluster that the user of a project has, by its kubeconfig. */
export interface Server extends AsyncDisposable {
  readonly kubeconfig: string;
  readonly client: Client;
  /** Containers of the project's image run the project. */
  readonly runsImage: boolean;
}

/** How a server is started for a project, or why it cannot be. */
export interface ServerChoice {
  readonly title: string;
  readonly missing: string | false;
  start(project: NewProject, image: string): Promise<Server>;
}

/** `konverge up` of the project itself. Its nodes are simulated; the project stands for its image. */
const embedded: ServerChoice = {
  title: "on the embedded cluster",
  missing: false,
  async start(project, image) {
    const kubeconfig = join(project.place, "embedded.kubeconfig");
    const name = `project-${process.pid}`;
    const program = `${image}=${join(project.folder, "node_modules", ".bin", "konverge")}`;
    await project.konverge("up", "--background", "--name", name, "--kubeconfig", kubeconfig, "--program", program);
    const client = await connect({ kubeconfig });
    return {
      kubeconfig,
      client,
      runsImage: true,
      async [Symbol.asyncDispose]() {
        await client.close();
        await project.konverge("down", "--name", name);
      },
    };
  },
};

/** A real control plane, whose nodes are simulated: nothing runs in their containers. */
const real: ServerChoice = {
  title: "on the real control plane",
  missing: withoutControlPlane(),
  async start() {
    const cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 2, gpus: 0 } });
    const client = await connect({ kubeconfig: cluster.kubeconfig });
    return {
      kubeconfig: cluster.kubeconfig,
      client,
      runsImage: false,
      async [Symbol.asyncDispose]() {
        await client.close();
        await cluster.stop();
      },
    };
  },
};

export const SERVERS: readonly ServerChoice[] = [embedded, real];

function withoutControlPlane(): string | false {
  const plane = findControlPlane();
  if (!plane.available) return plane.why;
  const lacking = plane.absent.filter((name) => name !== "e2e.test");
  return lacking.length > 0 && `${plane.folder} lacks ${lacking.join(", ")}`;
}

/** Waits until something holds; two minutes at most. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, printed = () => ""): Promise<void> {
  const clock = realClock();
  const deadline = clock.monotonic() + 120_000;
  let last: unknown;
  for (;;) {
    try {
      if (await holds()) return;
    } catch (error) {
      last = error;
    }
    if (clock.monotonic() > deadline) throw new Error(`it never came true that ${what}\n${printed()}`, { cause: last });
    await sleep(clock, 100);
  }
}

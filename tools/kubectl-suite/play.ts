import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { normalize } from "./normalize.ts";
import type { Server } from "./servers.ts";
import type { Output, Session } from "./session.ts";
import type { Step, Story } from "./story.ts";

/** How often a step is asked again that waits for something; less where it is known not to come about yet. */
const ATTEMPTS = 60;
const FEW_ATTEMPTS = 5;
/** Between two attempts, in milliseconds. */
const PAUSE = 500;

/** Makes a test of every step of every story: its output on both servers must be the same. */
export function play(stories: readonly Story[], start: () => Promise<[Server, Server]>, skip: string | false): void {
  describe("kubectl sees the same on a real server and on the embedded one", () => {
    let servers: Server[] = [];
    before(async () => {
      if (!skip) servers = await start();
    });
    after(async () => {
      for (const server of servers) await server[Symbol.asyncDispose]();
    });
    for (const { name, steps } of stories) {
      describe(name, () => {
        const namespace = `suite-${name.replaceAll(/[^a-z0-9]+/g, "-")}`;
        let sessions: Session[] = [];
        before(async () => {
          if (skip) return;
          sessions = servers.map((server) => server.session(namespace));
          await Promise.all(sessions.map((session) => createNamespace(session, namespace)));
        });
        for (const step of steps) {
          test(step.name, { skip, ...(step.todo !== undefined && { todo: step.todo }) }, async () => {
            const outputs = await Promise.all(sessions.map((session) => settled(step, session)));
            const [real, embedded] = outputs.map((output) => normalize(output, step));
            assert.equal(embedded, real);
          });
        }
      });
    }
  });
}

async function createNamespace(session: Session, namespace: string): Promise<void> {
  const { code, stderr } = await session.kubectl(["create", "namespace", namespace]);
  if (code !== 0) throw new Error(`cannot create namespace ${namespace} on the ${session.server} server: ${stderr}`);
}

async function settled(step: Step, session: Session): Promise<Output> {
  const attempts = step.todo === undefined ? ATTEMPTS : FEW_ATTEMPTS;
  for (let attempt = 1; ; attempt++) {
    const output = await step.run(session);
    if (!step.until || step.until.test(output.stdout) || attempt === attempts) return output;
    await sleep(PAUSE);
  }
}

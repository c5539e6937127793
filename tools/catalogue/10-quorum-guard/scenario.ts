import type { AnyObject } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import type { Invariant, Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { changeSpec, reaches } from "../lib/steps.ts";

/** Three members are replaced by those of a new version, one after the other. */
export const rollingUpgrade =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 3, version: "1", image: "example/db:1" }));
    await reaches(environment, "a", "Ready 1");
    await changeSpec(environment, "a", { version: "2" });
    await reaches(environment, "a", "Ready 2");
    await environment.until("all members are of version 2", async () => {
      const pods = await environment.list(Pod);
      return pods.filter(({ metadata }) => metadata.labels?.["version"] === "2").length === 3;
    });
  };

/** Once an App has been ready, two of its three members have to be up. */
export const quorum: Invariant = {
  name: "two of three members are up",
  always: (state) => {
    const [only] = state.list("apps.example.com") as readonly { status?: { phase?: string } }[];
    if (!only?.status?.phase) return true;
    return state.list("pods").filter(isUp).length >= 2;
  },
};

function isUp(pod: AnyObject): boolean {
  const { conditions = [] } = (pod["status"] ?? {}) as { conditions?: { type: string; status: string }[] };
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return isReady && pod.metadata.deletionTimestamp === undefined;
}

import { ConfigMap } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { changeSpec, reaches } from "../../lib/steps.ts";

/** An App has no page, so its user writes one. Then it is resized. */
export const withOwnPage =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 1 }));
    await reaches(environment, "a", "1 ready");
    await environment.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a-page" },
      data: { title: "maintained by hand" },
    });
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "2 ready");
  };

/** The operator reads and deletes pages. */
export const PAGES = { kind: ConfigMap, verbs: ["get", "create", "delete"] } as const;

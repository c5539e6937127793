import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { changeSpec, reaches } from "../../lib/steps.ts";

/** An App loses a member, and gets another. */
export const shrunkAndGrown =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 2, image: "example/db:1" }));
    await reaches(environment, "a", "2 of 2");
    await changeSpec(environment, "a", { size: 1 });
    await reaches(environment, "a", "1 of 1");
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "2 of 2");
  };

/** A member of an App: its pod, which uses a volume claim of the same name. */
export function member({ metadata, spec }: App, i: number): object {
  const name = `${metadata.name}-${i}`;
  const { namespace, uid } = metadata;
  const owner = { apiVersion: "example.com/v1", kind: "App", name: metadata.name, uid, controller: true };
  return {
    metadata: { name, namespace, labels: { app: metadata.name }, ownerReferences: [owner] },
    spec: {
      containers: [{ name: "db", image: spec.image ?? "" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
    },
  };
}

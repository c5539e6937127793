import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import "./adoption.ts";
import "./children.ts";
import "./cleanup.ts";
import "./create-only-children.ts";
import "./daemons.ts";
import "./dynamic-controllers.ts";
import "./late-owner.ts";
import "./narrower-definition.ts";
import "./optional-children.ts";
import "./progress.ts";
import "./reads.ts";
import "./recording.ts";
import "./removal.ts";
import "./repairs.ts";
import "./rhythms.ts";
import "./status.ts";
import "./takeover.ts";
import "./triggers.ts";
import "./whole-status.ts";
import { CustomResourceDefinition } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { prepare, realStage } from "./real-stage.ts";
import { scenarios } from "./scenario.ts";
import { Widget } from "./stage.ts";

const kubernetes = process.env.KONVERGE_KUBERNETES;
const plane = findControlPlane(kubernetes);

let cluster: RealCluster;
before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ ...(kubernetes && { kubernetes }) });
  const { user } = realStage(cluster);
  await user.create(CustomResourceDefinition, Widget.crd() as never);
  await prepare(user);
  while (
    !(await user.list(Widget).then(
      () => true,
      () => false,
    ))
  )
    await pause(50);
});
after(() => cluster?.stop());

for (const { name, play, virtual } of scenarios) {
  if (virtual) continue;
  test(name, { skip: plane.available ? false : plane.why }, async () => {
    await using stage = realStage(cluster);
    await play(stage);
  });
}

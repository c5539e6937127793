import { Job, PersistentVolumeClaim } from "@konverge/kinds";
import { deleteExactly, hasCondition, live, ownedJob } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { claim, ownedBy, setStatus, tolerant } from "../../lib/steps.ts";
import { initialized } from "./scenario.ts";

// The Job is made together with the volume: if only that could be made, it is waited for forever (cloudnative-pg/cloudnative-pg#4147).
export const scenario = initialized(
  reconciler({
    watches: [Job],
    permissions: [{ kind: PersistentVolumeClaim, verbs: ["get", "create"] }],
    create: () => async (name, app, context) => {
      if (!app || app.status?.phase === "Initialized") return;
      const { client } = context;
      const job = await live(context, Job, `${name}-init`);
      if (job && hasCondition(job, "Complete")) await setStatus(context, app, { phase: "Initialized" });
      const isReplaced = job !== undefined && hasCondition(job, "Failed");
      if (job && isReplaced) await deleteExactly(context, Job, job);
      const volume = await live(context, PersistentVolumeClaim, name);
      if (volume && !isReplaced) return;
      if (!volume) await tolerant(client.create(PersistentVolumeClaim, claim(app, name, ownedBy(app))));
      await tolerant(client.create(Job, ownedJob(app, { name: `${name}-init` })));
    },
  }),
);

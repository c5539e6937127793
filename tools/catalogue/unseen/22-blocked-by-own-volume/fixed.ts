import { Job, PersistentVolumeClaim } from "@konverge/kinds";
import { deleteExactly, hasCondition, live, ownedJob } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { claim, ownedBy, setStatus, tolerant } from "../../lib/steps.ts";
import { initialized } from "./scenario.ts";

/** The volume and the Job are each made when they are missing. */
export const scenario = initialized(
  reconciler({
    watches: [Job],
    permissions: [{ kind: PersistentVolumeClaim, verbs: ["get", "create"] }],
    create: () => async (name, app, context) => {
      if (!app || app.status?.phase === "Initialized") return;
      const { client } = context;
      const volume = await live(context, PersistentVolumeClaim, name);
      if (!volume) await tolerant(client.create(PersistentVolumeClaim, claim(app, name, ownedBy(app))));
      const job = await live(context, Job, `${name}-init`);
      if (!job) await tolerant(client.create(Job, ownedJob(app, { name: `${name}-init` })));
      else if (hasCondition(job, "Complete")) await setStatus(context, app, { phase: "Initialized" });
      else if (hasCondition(job, "Failed")) await deleteExactly(context, Job, job);
    },
  }),
);

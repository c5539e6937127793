import { Pod } from "@konverge/kinds";
import { deleteExactly, isMember, isReady, liveObjects, memberPod } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { running } from "./scenario.ts";

// A pod that exists is a member, also one that has ended and never runs again (cozystack/etcd-operator#368).
export const scenario = running(
  reconciler({
    watches: [Pod],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { size } = app.spec;
      const pods = await liveObjects(context, Pod, app);
      for (const pod of pods) if (!isMember(pod, size)) await deleteExactly(context, Pod, pod);
      for (let i = 0; i < size; i++) {
        const pod = pods.find(({ metadata }) => metadata.name === `${name}-${i}`);
        if (!pod) await tolerant(context.client.create(Pod, memberPod(app, `${name}-${i}`)));
      }
      await setStatus(context, app, { phase: `${pods.filter(isReady).length} of ${size}` });
    },
  }),
);

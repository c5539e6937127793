import { ConfigMap } from "@konverge/kinds";
import { deleteExactly, live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../../lib/steps.ts";
import { PAGES, withOwnPage } from "./scenario.ts";

/** Only what the App controls is deleted. */
export const scenario = withOwnPage(
  reconciler({
    permissions: [PAGES],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client } = context;
      const page = await live(context, ConfigMap, `${name}-page`);
      const isOwn = page?.metadata.ownerReferences?.some(({ uid }) => uid === app.metadata.uid);
      if (app.spec.image) await tolerant(client.create(ConfigMap, configMap(app, `${name}-page`, {}, ownedBy(app))));
      else if (page && isOwn) await deleteExactly(context, ConfigMap, page);
      await setStatus(context, app, { phase: `${app.spec.size} ready` });
    },
  }),
);

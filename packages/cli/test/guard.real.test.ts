import { connect } from "@konverge/client";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { guardStories } from "./guard-stories.ts";

const plane = findControlPlane();

async function start() {
  const cluster = await startRealCluster();
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  const stop = async () => {
    await client.close();
    await cluster.stop();
  };
  return { client, stop };
}

guardStories(start, { skip: plane.available ? false : plane.why });

import {
  type ApiServer,
  type CallExtension,
  type CallWebhook,
  createAuthority,
  type KubeletApi,
} from "@konverge/apiserver";
import { type Clock, realClock } from "@konverge/core";
import { Images } from "./images/image.ts";
import { Kubelet } from "./kubelet/kubelet.ts";
import { nodeStreams } from "./node-streams/node-streams.ts";
import { NodePulse } from "./parts/node-pulse.ts";
import { extensionCaller } from "./port/call-extension.ts";
import { callWebhook } from "./port/call-webhook.ts";
import { ClusterFront } from "./port/front.ts";
import { KubeletClient } from "./real-nodes/kubelet-client.ts";
import { realStreams } from "./real-nodes/kubelet-streams.ts";

/** What an API server without simulated nodes reaches: other servers, and the kubelets of Nodes that report an address. */
export interface Surroundings {
  readonly callWebhook: CallWebhook;
  readonly callExtension: CallExtension;
  readonly streams: KubeletApi;
  /** Answers proxies. */
  readonly front: ClusterFront;
  close(): Promise<void>;
}

export function surroundingsOf(server: ApiServer, clock: Clock): Surroundings {
  const images = new Images({});
  const kubelet = new Kubelet({ nodes: [], images, atOnce: false });
  kubelet.store = server.store;
  const authority = createAuthority(realClock());
  const kubelets = new KubeletClient({ store: () => server.store, authority: () => authority });
  return {
    callWebhook,
    callExtension: extensionCaller(kubelet),
    streams: nodeStreams(kubelet, images, clock, realStreams(kubelets)),
    front: new ClusterFront({ server, kubelet, kubelets, clock, pulse: new NodePulse() }),
    close: () => kubelets.close(),
  };
}

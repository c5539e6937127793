import type { KubeletApi, KubeletRequest } from "@konverge/apiserver";
import { badRequest, type Clock } from "@konverge/core";
import type { Images } from "../images/image.ts";
import type { Kubelet } from "../kubelet/kubelet.ts";
import { portForwardResponse } from "../streams/port-forward.ts";
import { execResponse } from "./exec.ts";
import { asMessages, logResponse } from "./logs.ts";

/** Answers for pods on real nodes; undefined for others. */
export type RealStreams = (request: KubeletRequest) => ReturnType<KubeletApi> | undefined;

/** Answers for the simulated nodes: logs, and streams to what seems to run in containers. Other nodes have `real`. */
export function nodeStreams(kubelet: Kubelet, images: Images, clock: Clock, real: RealStreams): KubeletApi {
  const image = (reference: string | undefined) => images.find(reference);
  return (request) => {
    const { action, call, pod, container, log } = request;
    const answer = real(request);
    if (answer) return answer;
    const { name = "", namespace = "" } = pod.metadata as { name?: string; namespace?: string };
    const worker = kubelet.worker(`${namespace}/${name}`);
    if (!worker) throw badRequest(`pod ${name} does not run on a simulated node`);
    const query = new URLSearchParams(call.info.query);
    if (container !== "") query.set("container", container);
    if (log) {
      const { signal, upgrade } = call.request;
      return asMessages(logResponse(worker, container, log, clock.now(), signal), upgrade);
    }
    if (action === "exec" || action === "attach") {
      return execResponse(
        { containerRuntime: kubelet.containerRuntime, image },
        worker,
        query,
        call.request.upgrade,
        action === "attach",
      );
    }
    if (action === "portforward") return portForwardResponse(kubelet.network, worker.pod, call.request.upgrade, query);
    throw badRequest(`${action} of pod ${name} is answered in front of this server`);
  };
}

import { type Clock, sleep } from "@konverge/core";
import type { Probe } from "@konverge/kinds";
import type { Image } from "../images/image.ts";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";
import { namedPort } from "../streams/service-backend.ts";
import type { ContainerRuntime, RunTarget } from "./container-runtime.ts";
import { ExecOutput } from "./exec-output.ts";
import { grpcProblem } from "./grpc-probe.ts";

/** What a probe is carried out with. */
export interface CheckHost {
  readonly network: PodNetwork;
  /** The machine's, on which programs answer. */
  readonly clock: Clock;
  readonly containerRuntime: ContainerRuntime;
  image(reference: string | undefined): Image | undefined;
}

/** Runs a probe against a program; returns the failure, or undefined when it succeeds. */
export async function checkProbe(host: CheckHost, where: RunTarget, probe: Probe): Promise<string | undefined> {
  const timeout = (probe.timeoutSeconds ?? 1) * 1000;
  const over = new AbortController();
  const late = sleep(host.clock, timeout, { signal: over.signal, background: true, label: "kubelet: probe" }).then(
    () => {
      over.abort();
      return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    },
    () => undefined,
  );
  try {
    return await Promise.race([carriedOut(host, where, probe, over.signal), late]);
  } finally {
    over.abort();
  }
}

async function carriedOut(
  host: CheckHost,
  where: RunTarget,
  { httpGet, tcpSocket, grpc, exec }: Probe,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { network } = host;
  const { pod } = where;
  if (exec) return execProblem(host, where, exec.command ?? [], signal);
  const given = httpGet?.port ?? tcpSocket?.port ?? grpc?.port;
  const port = typeof given === "string" && !/^\d+$/.test(given) ? namedPort(pod, given) : Number(given);
  if (port === undefined || Number.isNaN(port)) return `couldn't find port: ${given}`;
  const ip = where.place.podIP;
  if (grpc) return grpcProblem(await network.dial(pod, port), grpc.service ?? "", signal);
  if (!httpGet) {
    (await network.dial(pod, port)).destroy();
    return undefined;
  }
  const { path = "/", scheme = "HTTP", httpHeaders = [] } = httpGet;
  const url = `${scheme.toLowerCase()}://${ip}:${port}${path}`;
  try {
    const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
    const response = await requestOver(await network.dial(pod, port), {
      method: "GET",
      path,
      headers: { host: `${ip}:${port}`, "user-agent": "kube-probe/1.36", ...headers },
      ...(scheme === "HTTPS" && { tls: { rejectUnauthorized: false } }),
      signal,
    });
    response.resume();
    const { statusCode = 0 } = response;
    return statusCode >= 200 && statusCode < 400 ? undefined : `HTTP probe failed with statuscode: ${statusCode}`;
  } catch (error) {
    return `Get "${url}": ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function execProblem(
  { image, containerRuntime }: CheckHost,
  where: RunTarget,
  command: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const output = new ExecOutput();
  const { pod, container } = where;
  const own = image(container.image)?.exec;
  const { stdin, stdout, stderr } = output;
  const code = own
    ? await own({ pod, container: container.name, command, stdin, stdout, stderr, signal })
    : await containerRuntime.execute(where, command, output, signal);
  return code === 0 ? undefined : `command ${JSON.stringify(command)} failed: ${output.text.trim()}`;
}

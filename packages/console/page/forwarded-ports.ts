import { signal } from "@preact/signals";
import { responseProblem } from "./api.ts";

/** A port of a pod that this page keeps open on this machine. */
export interface ForwardedPort {
  readonly pod: string;
  readonly port: number;
  /** `127.0.0.1:1234` */
  readonly address: string;
  close(): void;
}

/** They stay open while the page shows something else, and end with it: the server closes each with its response. */
export const forwardedPorts = signal<readonly ForwardedPort[]>([]);

/** Opens a port. Rejects with the API server's message. */
export async function forwardPort(namespace: string, pod: string, port: number): Promise<void> {
  const leave = new AbortController();
  const response = await fetch("/console/forward", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ namespace, pod, port }),
    signal: leave.signal,
  });
  if (!response.ok || !response.body) throw await responseProblem(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "{}" } = await reader.read();
  const { address } = JSON.parse(value) as { address: string };
  const opened: ForwardedPort = { pod: `${namespace}/${pod}`, port, address, close: () => leave.abort() };
  forwardedPorts.value = [...forwardedPorts.value, opened];
  const ended = () => {
    forwardedPorts.value = forwardedPorts.value.filter((one) => one !== opened);
  };
  reader.read().then(ended, ended);
}

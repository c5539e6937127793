import type { ApiRequest, ApiResponse, KindRef, KubeObject, Transport } from "@konverge/core";

/** A kind to test with. */
export interface Widget extends KubeObject {
  spec?: { size?: number };
  status?: { ready?: boolean };
}

export const Widget: KindRef<Widget> = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

export function widget(name: string, resourceVersion: string, size?: number): Widget {
  return {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion },
    ...(size !== undefined && { spec: { size } }),
  };
}

/** What a scripted server does with one request. */
export type Step = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** A transport that answers the n-th request with the n-th step, and records what it was asked. */
export function scripted(...steps: Step[]): { transport: Transport; requests: ApiRequest[] } {
  const requests: ApiRequest[] = [];
  return {
    requests,
    transport: async (request) => {
      const step = steps[requests.length];
      requests.push(request);
      if (!step) throw new Error(`request ${requests.length} is not in the script: ${request.method} ${request.path}`);
      return step(request);
    },
  };
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Step {
  return () => ({ status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) });
}

export function failure(code: number, reason: string, message = reason, headers: Record<string, string> = {}): Step {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message };
  return json(status, code, headers);
}

export function list(resourceVersion: string, items: KubeObject[], next?: string): Step {
  return json({
    apiVersion: "example.com/v1",
    kind: "WidgetList",
    metadata: { resourceVersion, ...(next && { continue: next }) },
    items,
  });
}

/** Never answers. */
export const silence: Step = () => new Promise<ApiResponse>(() => {});

/** How a scripted stream goes on after its chunks: it ends, breaks, or says nothing more. */
export type Ending = "end" | "break" | "silence";

export function stream(chunks: (string | Uint8Array)[], ending: Ending = "end", closed?: () => void): Step {
  return () => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      try {
        yield* chunks;
        if (ending === "break") throw new Error("connection reset");
        if (ending === "silence") await new Promise(() => {});
      } finally {
        closed?.();
      }
    })(),
  });
}

/** A watch response with these events. */
export function events(lines: { type: string; object: object }[], ending: Ending = "end"): Step {
  return stream(
    lines.map((line) => `${JSON.stringify(line)}\n`),
    ending,
  );
}

export const added = (object: KubeObject) => ({ type: "ADDED", object });
export const changed = (object: KubeObject) => ({ type: "MODIFIED", object });
export const deleted = (object: KubeObject) => ({ type: "DELETED", object });

export function bookmark(resourceVersion: string, initialEventsEnd = false) {
  const annotations = initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  return {
    type: "BOOKMARK",
    object: { apiVersion: "example.com/v1", kind: "Widget", metadata: { resourceVersion, ...annotations } },
  };
}

export function compacted() {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 410, reason: "Expired" };
  return { type: "ERROR", object: { ...status, message: "too old resource version: 1 (2)" } };
}

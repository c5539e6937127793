import { type Clock, realClock } from "@konverge/core";
import type { Context, Span, Tracer } from "@opentelemetry/api";
import type { ApiCall, Observer, ReconcileEnd, ReconcileObserver, ReconcileStart } from "../observe/observer.ts";
import { openTelemetry } from "./on-demand.ts";

/**
 * A trace for each reconcile: a span that starts when its key is added to the queue, in it one for the reconcile, in it
 * one for each API call. They go to the OpenTelemetry provider that the process has registered; without one the
 * overhead is negligible.
 */
export function tracing(options: { tracer?: Tracer; clock?: Clock } = {}): Observer {
  const { tracer = openTelemetry().trace.getTracer("konverge"), clock = realClock() } = options;
  return {
    reconciling(start) {
      const root = tracer.startSpan(`${start.controller} ${start.triggers[0]?.type ?? "trigger"}`, {
        root: true,
        startTime: clock.now() - start.waited,
        attributes: attributesOf(start),
      });
      return root.isRecording() ? new ReconcileTrace(tracer, root, start) : undefined;
    },
  };
}

class ReconcileTrace implements ReconcileObserver {
  readonly #tracer: Tracer;
  readonly #root: Span;
  readonly #span: Span;
  readonly #context: Context;

  constructor(tracer: Tracer, root: Span, start: ReconcileStart) {
    this.#tracer = tracer;
    this.#root = root;
    for (const { type, kind, key, resourceVersion } of start.triggers) {
      root.addEvent(`trigger ${type}`, {
        ...(kind && { kind }),
        ...(key && { key }),
        ...(resourceVersion && { resourceVersion }),
      });
    }
    const { context, trace } = openTelemetry();
    const outer = trace.setSpan(context.active(), root);
    this.#span = tracer.startSpan(`reconcile ${start.controller}`, { attributes: attributesOf(start) }, outer);
    this.#context = trace.setSpan(outer, this.#span);
  }

  around<R>(work: () => Promise<R>): Promise<R> {
    return openTelemetry().context.with(this.#context, work);
  }

  apiCall({ verb, kind, key, namespace, subresource }: ApiCall) {
    const attributes = {
      "k8s.verb": verb,
      "k8s.group": kind.group,
      "k8s.resource": kind.plural,
      ...(key && { "k8s.key": key }),
      ...(namespace && { "k8s.namespace.name": namespace }),
      ...(subresource && { "k8s.subresource": subresource }),
    };
    const span = this.#tracer.startSpan(`${verb} ${kind.kind}`, { attributes }, this.#context);
    return ({ error }: { error?: unknown }) => {
      if (error !== undefined) fail(span, error);
      span.end();
    };
  }

  ended({ outcome, error, next }: ReconcileEnd): void {
    this.#span.setAttributes({ "konverge.outcome": outcome, ...(next !== undefined && { "konverge.next_ms": next }) });
    if (error !== undefined && outcome !== "stopped") fail(this.#span, error);
    this.#span.end();
    this.#root.end();
  }
}

function attributesOf({ cluster, controller, key, failures }: ReconcileStart) {
  return {
    "konverge.controller": controller,
    "konverge.cluster": cluster,
    "konverge.key": key,
    "konverge.failures": failures,
  };
}

function fail(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  span.setStatus({ code: openTelemetry().SpanStatusCode.ERROR, message });
  span.recordException(error instanceof Error ? error : message);
}

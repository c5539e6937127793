import { append, type FieldError, httpHeaderNameErrors, portNameErrors, portNumberErrors } from "@konverge/core";
import { forbidden, invalidValue, required } from "@konverge/schema";
import type { Lifecycle, Probe } from "../../../codec/objects.ts";
import { named, nonNegative, oneOf } from "./checks.ts";

interface Handlers {
  exec?: { command?: string[] };
  httpGet?: { path?: string; port?: number | string; scheme?: string; httpHeaders?: { name: string }[] };
  tcpSocket?: { port?: number | string };
  grpc?: { port?: number };
  sleep?: { seconds: number };
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
const COUNTS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

/** What is wrong with a probe of any kind. */
export function probeErrors(probe: Probe, field: string): FieldError[] {
  const errors = handlerErrors(probe as Handlers, field);
  for (const name of COUNTS) append(errors, nonNegative(`${field}.${name}`, probe[name]));
  const seconds = probe.terminationGracePeriodSeconds;
  if (seconds !== undefined && seconds <= 0) {
    errors.push(invalidValue(`${field}.terminationGracePeriodSeconds`, seconds, "must be greater than 0"));
  }
  return errors;
}

/** What is wrong with what runs after a container's start and before its end. */
export function lifecycleErrors(lifecycle: Lifecycle | undefined, field: string): FieldError[] {
  return (["postStart", "preStop"] as const).flatMap((name) => {
    const handler = lifecycle?.[name];
    return handler ? handlerErrors(handler as Handlers, `${field}.${name}`) : [];
  });
}

function handlerErrors(handlers: Handlers, field: string): FieldError[] {
  const given = HANDLERS.filter((name) => handlers[name] !== undefined);
  if (given.length === 0) return [required(field, "must specify a handler type")];
  return given.flatMap((name, index) =>
    index === 0
      ? handlerError(handlers, name, `${field}.${name}`)
      : [forbidden(`${field}.${name}`, "may not specify more than 1 handler type")],
  );
}

function handlerError(handlers: Handlers, name: (typeof HANDLERS)[number], field: string): FieldError[] {
  const { exec, httpGet, tcpSocket, grpc } = handlers;
  switch (name) {
    case "exec":
      return exec?.command?.length ? [] : [required(`${field}.command`)];
    case "httpGet":
      return [
        ...(httpGet?.path ? [] : [required(`${field}.path`)]),
        ...portErrors(httpGet?.port, `${field}.port`),
        ...oneOf(`${field}.scheme`, httpGet?.scheme, ["HTTP", "HTTPS"]),
        ...(httpGet?.httpHeaders ?? []).flatMap((header) =>
          named(`${field}.httpHeaders`, header.name, httpHeaderNameErrors(header.name)),
        ),
      ];
    case "tcpSocket":
      return portErrors(tcpSocket?.port, `${field}.port`);
    case "grpc":
      return portErrors(grpc?.port, `${field}.port`);
    default:
      return [];
  }
}

function portErrors(port: number | string | undefined, field: string): FieldError[] {
  const details = typeof port === "string" ? portNameErrors(port) : portNumberErrors(port ?? 0);
  return details.map((detail) => invalidValue(field, port ?? 0, detail));
}

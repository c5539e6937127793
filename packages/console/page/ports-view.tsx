import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";
import { isAllowed, type JsonObject } from "./api.ts";
import { forwardedPorts, forwardPort } from "./forwarded-ports.ts";

/** Browsers allow few connections to one server, and each open port takes one. */
const MOST = 3;

interface PodSpec {
  readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number }[] }[];
}

/** Opens ports of a pod on this machine, for as long as the page is open. */
export function PortsView({ object, full }: { object: ObjectSummary; full: JsonObject | undefined }) {
  const allowed = useSignal<boolean | undefined>(undefined);
  const given = useSignal<number | undefined>(undefined);
  const problem = useSignal("");
  useEffect(() => {
    void isAllowed(object, "create", "portforward").then((is) => {
      allowed.value = is;
    });
  }, [object.id]);
  if (allowed.value === undefined) return null;
  if (!allowed.value)
    return <p class="empty">You have no permission to open ports of this pod (create pods/portforward).</p>;
  const { containers = [] } = (full?.["spec"] ?? {}) as PodSpec;
  const [declared] = containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort));
  const port = given.value ?? declared ?? 80;
  const { namespace = "", name } = object;
  const own = forwardedPorts.value.filter(({ pod }) => pod === `${namespace}/${name}`);
  const open = () => {
    problem.value = "";
    forwardPort(namespace, name, port).catch((error: unknown) => {
      problem.value = error instanceof Error ? error.message : String(error);
    });
  };
  return (
    <div class="ports">
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <label>
          Port{" "}
          <input
            type="number"
            min={1}
            max={65_535}
            value={port}
            onInput={({ currentTarget }) => {
              given.value = Number(currentTarget.value);
            }}
          />
        </label>
        <button type="submit" class="primary" disabled={forwardedPorts.value.length >= MOST}>
          Open port
        </button>
      </form>
      <p class="bad" role="alert">
        {problem.value}
      </p>
      <ul class="rows">
        {own.map((one) => (
          <li key={one.address}>
            <span class="grow">
              Port {one.port} is open at{" "}
              <a href={`http://${one.address}`} target="_blank" rel="noreferrer">
                {one.address}
              </a>
            </span>
            <button type="button" onClick={one.close}>
              Close
            </button>
          </li>
        ))}
      </ul>
      <p class="note">
        As with kubectl port-forward, every program on this machine can connect to an open port. All are closed with
        this page.
      </p>
    </div>
  );
}

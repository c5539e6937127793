import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";
import { control, hasSubresource, isAllowed, type JsonObject, pathOf, request } from "./api.ts";
import { EditDialog } from "./edit-dialog.tsx";
import { Modal } from "./modal.tsx";
import { controllers, hello } from "./store.ts";

const PAUSED = "konverge.dev/paused";
const RECONCILE_NOW = "konverge.dev/reconcile-now";
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";
const RESTARTED = new Set(["Deployment.apps", "StatefulSet.apps", "DaemonSet.apps"]);
/** The badge of nodes that take no more pods. */
const CORDONED = "cordoned";
/** Stops the kubelet of a simulated node, and the badge of such a node. */
const KUBELET = "sim.konverge.dev/kubelet";
const KUBELET_STOPPED = "kubelet stopped";
/** Names the console in managedFields. */
const MANAGER = "fieldManager=konverge-console";

/** Something that can be done with an object. */
export interface Action {
  readonly name: string;
  readonly title: string;
  readonly verb: string;
  readonly subresource?: string;
  /** Asked before it is done. */
  readonly question?: string;
  run(): Promise<unknown>;
}

type Shown = "edit" | "scale" | Action | undefined;

/** What the user can do with an object. Only what a SelfSubjectAccessReview allows is offered. */
export function Actions({ object, full }: { object: ObjectSummary; full: JsonObject | undefined }) {
  const allowed = useSignal<ReadonlySet<string>>(new Set());
  const shown = useSignal<Shown>(undefined);
  const outcome = useSignal<{ text: string; bad: boolean } | undefined>(undefined);
  const isReconciled = object.statusManager !== undefined && controllers.value.has(object.statusManager);
  const actions = actionsFor(object, isReconciled);
  useEffect(() => {
    let left = false;
    const reviews = [
      ...actions.map(async ({ name, verb, subresource }) => ({ name, is: await isAllowed(object, verb, subresource) })),
      isAllowed(object, "update").then((is) => ({ name: "edit", is })),
      hasSubresource(object, "scale").then(async (has) => ({
        name: "scale",
        is: has && (await isAllowed(object, "patch", "scale")),
      })),
    ];
    void Promise.all(reviews).then((list) => {
      if (!left) allowed.value = new Set(list.filter(({ is }) => is).map(({ name }) => name));
    });
    return () => {
      left = true;
    };
  }, [object.id, object.state === "paused", isReconciled]);
  const run = async (title: string, work: () => Promise<unknown>) => {
    shown.value = undefined;
    outcome.value = undefined;
    try {
      await work();
      outcome.value = { text: `${title}: done`, bad: false };
    } catch (error) {
      outcome.value = { text: error instanceof Error ? error.message : String(error), bad: true };
    }
  };
  const offered = actions.filter(({ name }) => allowed.value.has(name));
  const current = shown.value;
  const close = () => {
    shown.value = undefined;
  };
  return (
    <div class="actions">
      <div class="buttons" role="toolbar" aria-label="Actions">
        {offered.map((action) => (
          <button
            key={action.name}
            type="button"
            data-action={action.name}
            onClick={() => {
              if (action.question) shown.value = action;
              else void run(action.title, action.run);
            }}
          >
            {action.title}
          </button>
        ))}
        {allowed.value.has("scale") && (
          <button type="button" data-action="scale" onClick={() => (shown.value = "scale")}>
            Scale
          </button>
        )}
        {allowed.value.has("edit") && full && (
          <button type="button" data-action="edit" onClick={() => (shown.value = "edit")}>
            Edit
          </button>
        )}
      </div>
      {outcome.value && (
        <p role={outcome.value.bad ? "alert" : "status"} class={outcome.value.bad ? "bad" : "muted"}>
          {outcome.value.text}
        </p>
      )}
      {current === "edit" && full && <EditDialog object={object} full={full} onClose={close} />}
      {current === "scale" && (
        <ScaleDialog
          object={object}
          onClose={close}
          onScale={(replicas) => void run("Scale", () => scale(object, replicas))}
        />
      )}
      {typeof current === "object" && (
        <Modal title={`${current.title} ${object.kind} ${object.name}?`} onClose={close}>
          <p>{current.question}</p>
          <p class="buttons end">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="primary" onClick={() => void run(current.title, current.run)}>
              {current.title}
            </button>
          </p>
        </Modal>
      )}
    </div>
  );
}

function actionsFor(object: ObjectSummary, isReconciled: boolean): Action[] {
  const annotate = (annotations: Record<string, string | null>) => merge(object, { metadata: { annotations } });
  const now = () => new Date().toISOString();
  const actions: Action[] = [];
  if (isReconciled) {
    const isPaused = object.state === "paused";
    actions.push(
      { name: "reconcile", title: "Reconcile now", verb: "patch", run: () => annotate({ [RECONCILE_NOW]: now() }) },
      {
        name: "pause",
        title: isPaused ? "Resume" : "Pause",
        verb: "patch",
        run: () => annotate({ [PAUSED]: isPaused ? null : "true" }),
      },
    );
  }
  if (RESTARTED.has(`${object.kind}.${object.group}`)) {
    actions.push({
      name: "restart",
      title: "Restart",
      verb: "patch",
      question: "Its pods are replaced, as by kubectl rollout restart.",
      run: () => merge(object, { spec: { template: { metadata: { annotations: { [RESTARTED_AT]: now() } } } } }),
    });
  }
  if (object.node) {
    const isCordoned = object.badges.includes(CORDONED);
    actions.push({
      name: "cordon",
      title: isCordoned ? "Uncordon" : "Cordon",
      verb: "patch",
      run: () => merge(object, { spec: { unschedulable: isCordoned ? null : true } }),
    });
  }
  if (object.node && hello.value?.controls) actions.push(kubeletAction(object));
  if (object.pod && hello.value?.controls) {
    actions.push({
      name: "kill",
      title: "Kill containers",
      verb: "delete",
      question: "They end as in a crash, with exit code 137. The pod's restart policy decides what comes next.",
      run: () => control({ action: "crash pod", pod: `${object.namespace}/${object.name}` }),
    });
  }
  if (object.pod) {
    actions.push({
      name: "delete",
      title: "Delete pod",
      verb: "delete",
      question: "The pod ends. Its controller, if it has one, creates another.",
      run: () => request("DELETE", pathOf(object)),
    });
  }
  return actions;
}

/** A simulated node without its kubelet is lost: its pods run on until the cluster evicts them. */
export function kubeletAction(object: ObjectSummary): Action {
  const isStopped = object.badges.includes(KUBELET_STOPPED);
  return {
    name: "kubelet",
    title: isStopped ? "Bring node back" : "Lose node",
    verb: "patch",
    run: () => merge(object, { metadata: { annotations: { [KUBELET]: isStopped ? null : "stopped" } } }),
  };
}

function merge(object: ObjectSummary, patch: object): Promise<unknown> {
  return request("PATCH", `${pathOf(object)}?${MANAGER}`, patch, "application/merge-patch+json");
}

function scale(object: ObjectSummary, replicas: number): Promise<unknown> {
  const path = `${pathOf(object, "scale")}?${MANAGER}`;
  return request("PATCH", path, { spec: { replicas } }, "application/merge-patch+json");
}

interface ScaleProps {
  readonly object: ObjectSummary;
  readonly onClose: () => void;
  readonly onScale: (replicas: number) => void;
}

function ScaleDialog({ object, onClose, onScale }: ScaleProps) {
  const replicas = useSignal(object.replicas?.desired ?? 1);
  return (
    <Modal title={`Scale ${object.kind} ${object.name}`} onClose={onClose}>
      <label>
        Replicas{" "}
        <input
          type="number"
          min={0}
          value={replicas.value}
          onInput={({ currentTarget }) => {
            replicas.value = Number(currentTarget.value);
          }}
        />
      </label>
      <p class="buttons end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={() => onScale(replicas.value)}>
          Scale
        </button>
      </p>
    </Modal>
  );
}

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";
import { StateMark, stateWord } from "./state-mark.tsx";
import { warnings } from "./store.ts";
import type { TreeNode } from "./tree-model.ts";

/** More children of one kind than these are folded. */
const FOLD_FROM = 8;

interface TreeProps {
  readonly root: TreeNode;
  readonly selected: string;
  readonly onSelect: (id: string) => void;
}

/** An object with all that it owns and refers to, from left to right; from top to bottom on narrow screens. */
export function TreeView({ root, selected, onSelect }: TreeProps) {
  const frame = useRef<HTMLElement>(null);
  // The selected node stays in view when another one is chosen, and not whenever something changes.
  useEffect(() => {
    frame.current
      ?.querySelector(`[data-id="${CSS.escape(selected)}"]`)
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [selected]);
  return (
    <nav
      class="tree-frame"
      ref={frame}
      aria-label={`Resources of ${root.object.kind} ${root.object.name}`}
      onKeyDown={(event) => moveFocus(event, frame.current!)}
    >
      <ul class="tree">
        <Node node={root} selected={selected} onSelect={onSelect} />
      </ul>
    </nav>
  );
}

/** Up and down go through all nodes, left to the owner, right to the first child. */
function moveFocus(event: KeyboardEvent, frame: HTMLElement): void {
  const items = [...frame.querySelectorAll<HTMLElement>(".node")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const item = items[at]!.closest("li")!;
  const moves: Readonly<Record<string, () => HTMLElement | null | undefined>> = {
    ArrowDown: () => items[at + 1],
    ArrowUp: () => items[at - 1],
    ArrowRight: () => item.querySelector<HTMLElement>("ul .node"),
    ArrowLeft: () => item.parentElement?.closest("li")?.querySelector<HTMLElement>(".node"),
    Home: () => items[0],
    End: () => items.at(-1),
  };
  const target = moves[event.key]?.();
  if (!target) return;
  event.preventDefault();
  target.focus();
}

interface NodeProps {
  readonly node: TreeNode;
  readonly selected: string;
  readonly onSelect: (id: string) => void;
}

function Node({ node, selected, onSelect }: NodeProps) {
  const { object, children, missing, uses = [] } = node;
  const unfolded = useSignal<ReadonlySet<string>>(new Set());
  const hasChildren = children.length > 0 || missing !== undefined || uses.length > 0;
  return (
    <li>
      <button
        type="button"
        class={`node ${object.state} ${object.id === selected ? "selected" : ""}`}
        data-id={object.id}
        data-kind={object.kind}
        aria-current={object.id === selected}
        onClick={() => onSelect(object.id)}
      >
        <NodeFace object={object} />
      </button>
      {hasChildren && (
        <ul>
          {missing && (
            <li>
              <div class="node ghost">
                <strong>{missing.text}</strong>
                <span class="problem">{missing.why}</span>
              </div>
            </li>
          )}
          {uses.map((used) => (
            <li key={`uses ${used.id}`} class="uses">
              <button
                type="button"
                class={`node ${used.state}`}
                data-kind={used.kind}
                onClick={() => onSelect(used.id)}
              >
                <span class="relation">uses</span>
                <NodeFace object={used} />
              </button>
            </li>
          ))}
          {byKind(children).map(([kind, list]) => {
            const folded = list.length >= FOLD_FROM && !unfolded.value.has(kind);
            const shown = folded ? keptOpen(list, selected) : list;
            return [
              ...shown.map((child) => (
                <Node key={child.object.id} node={child} selected={selected} onSelect={onSelect} />
              )),
              folded && (
                <li key={`more ${kind}`}>
                  <button
                    type="button"
                    class="node fold"
                    onClick={() => {
                      unfolded.value = new Set([...unfolded.value, kind]);
                    }}
                  >
                    {list.length - shown.length} more {kind}
                  </button>
                </li>
              ),
            ];
          })}
        </ul>
      )}
    </li>
  );
}

function byKind(nodes: readonly TreeNode[]): [string, TreeNode[]][] {
  const found = new Map<string, TreeNode[]>();
  for (const node of nodes) found.set(node.object.kind, [...(found.get(node.object.kind) ?? []), node]);
  return [...found];
}

/** Of a folded list: a few, those that are not ready, and the selected one. */
function keptOpen(list: readonly TreeNode[], selected: string): TreeNode[] {
  const open = list.filter(({ object }) => object.id === selected || !["ready", "done"].includes(object.state));
  const rest = list.filter((node) => !open.includes(node)).slice(0, Math.max(0, 4 - open.length));
  return list.filter((node) => open.slice(0, FOLD_FROM).includes(node) || rest.includes(node));
}

function NodeFace({ object }: { object: ObjectSummary }) {
  const { state, kind, name, replicas, badges, problem } = object;
  const warning = state === "ready" || state === "done" ? undefined : warnings.value.get(object.id);
  return (
    <>
      <span class="head">
        <StateMark state={state} />
        <span class="kind">{kind}</span>
        {replicas && (
          <span class="badge" title="Ready replicas of those requested">
            {replicas.ready}/{replicas.desired}
          </span>
        )}
        {badges.map((badge) => (
          <span key={badge} class={`badge ${badge === "primary" ? "strong" : ""}`}>
            {badge}
          </span>
        ))}
      </span>
      <span class="name">{name}</span>
      {problem ? (
        <span class="problem">{problem}</span>
      ) : warning ? (
        <span class="problem">
          {warning.reason}: {warning.message}
        </span>
      ) : (
        state === "progressing" && <span class="message">{object.message || stateWord(state)}</span>
      )}
    </>
  );
}

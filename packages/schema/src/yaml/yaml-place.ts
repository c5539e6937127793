import { NodeParser, type YamlNode } from "./parse-nodes.ts";

/** A place in a text. Both count from 1. */
export interface YamlPlace {
  readonly line: number;
  readonly column: number;
}

/**
 * Where the value at a path stands in the first document of a text, or as much of the path as there is: for errors that
 * say where. `["steps", 2, "wait"]` is the value of `wait` in the third item of `steps`.
 */
export function yamlPlace(text: string, path: readonly (string | number)[]): YamlPlace {
  let node = new NodeParser(text).nextDocument();
  for (const step of path) {
    const inner = node && below(node.target ?? node, step);
    if (!inner) break;
    node = inner;
  }
  return { line: (node?.line ?? 0) + 1, column: (node?.column ?? 0) + 1 };
}

function below(node: YamlNode, step: string | number): YamlNode | undefined {
  if (node.kind === "list") return node.items[Number(step)];
  if (node.kind !== "map") return undefined;
  for (let i = 0; i < node.items.length; i += 2) if (node.items[i]!.text === String(step)) return node.items[i + 1];
  return undefined;
}

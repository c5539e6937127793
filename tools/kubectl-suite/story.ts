import type { Mask } from "./normalize.ts";
import type { Output, Session } from "./session.ts";

export type { Output, Session } from "./session.ts";

/** One command, run on both servers. */
export interface Step {
  readonly name: string;
  run(session: Session): Promise<Output>;
  /** Asked again until the output of a run matches: for what comes about in its own time. */
  readonly until?: RegExp;
  /** Lines come in any order. */
  readonly unordered?: boolean;
  /** What differs besides what differs everywhere. */
  readonly masks?: readonly Mask[];
  /** Why the servers do not agree yet: the step is reported, and does not fail. */
  readonly todo?: string;
}

/** Commands that build upon each other, in a separate namespace. */
export interface Story {
  readonly name: string;
  readonly steps: readonly Step[];
}

export function story(name: string, ...steps: readonly Step[]): Story {
  return { name, steps };
}

export interface CommandOptions extends Pick<Step, "until" | "unordered" | "masks" | "todo"> {
  /** What kubectl reads from its standard input: objects, or text. */
  input?: object | readonly object[] | string;
  /** Edits the file that `kubectl edit` names: a command. */
  editor?: string;
}

/** A command line as one types it, without the word kubectl; quotes keep words together. */
export function kubectl(line: string, options: CommandOptions = {}): Step {
  const { input, editor, ...rest } = options;
  const text = input === undefined || typeof input === "string" ? input : manifest(input);
  const env: Record<string, string> = editor === undefined ? {} : { KUBE_EDITOR: editor };
  return { name: `kubectl ${line}`, run: (session) => session.kubectl(words(line), { input: text, env }), ...rest };
}

function manifest(input: object | readonly object[]): string {
  const objects = Array.isArray(input) ? (input as readonly object[]) : [input];
  return objects.map((object) => JSON.stringify(object)).join("\n---\n");
}

/** Splits a command line as a shell does that knows quotes, and nothing else. */
export function words(line: string): string[] {
  const found: string[] = [];
  for (const [, word] of line.matchAll(/\s*((?:'[^']*'|"[^"]*"|[^\s'"])+)/g)) {
    found.push(word!.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ""));
  }
  return found;
}

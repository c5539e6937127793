/** A word before it is expanded: what is quoted is neither split nor matched against files. */
export type Word = readonly WordPart[];

export type WordPart =
  | { readonly kind: "text"; readonly text: string; readonly quoted: boolean }
  | {
      readonly kind: "variable";
      readonly name: string;
      readonly quoted: boolean;
      /** `:-`, `-`, `:=`, `=`, `:?`, `?`, `:+`, `+`, `%`, `%%`, `#`, `##`, or `length`. */
      readonly operator?: string;
      readonly operand?: Word;
    }
  | { readonly kind: "command"; readonly script: Script; readonly quoted: boolean }
  | { readonly kind: "arithmetic"; readonly expression: Word; readonly quoted: boolean };

export interface Redirection {
  readonly descriptor: number;
  readonly operator: ">" | ">>" | "<" | ">&" | "<&" | "&>" | "<<" | "<<<";
  readonly target: Word;
}

export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

export type Node =
  | {
      readonly kind: "simple";
      readonly assignments: readonly Assignment[];
      readonly words: readonly Word[];
      readonly redirections: readonly Redirection[];
    }
  | { readonly kind: "pipeline"; readonly commands: readonly Node[]; readonly negated: boolean }
  | {
      readonly kind: "list";
      readonly first: Node;
      readonly rest: readonly { readonly operator: "&&" | "||"; readonly command: Node }[];
    }
  | { readonly kind: "background"; readonly body: Node }
  | { readonly kind: "group" | "subshell"; readonly body: Script; readonly redirections: readonly Redirection[] }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly condition: Script; readonly body: Script }[];
      readonly otherwise: Script | undefined;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: "loop";
      readonly until: boolean;
      readonly condition: Script;
      readonly body: Script;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: "for";
      readonly name: string;
      readonly words: readonly Word[] | undefined;
      readonly body: Script;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: "case";
      readonly subject: Word;
      readonly choices: readonly { readonly patterns: readonly Word[]; readonly body: Script }[];
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly kind: "function";
      readonly name: string;
      readonly body: Node;
      /** Characters of its source. */
      readonly size: number;
    };

export type Script = readonly Node[];

/** A script that is not one. */
export class ShellSyntaxError extends Error {
  override readonly name = "ShellSyntaxError";
}

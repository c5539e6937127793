import type { Permission } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import type { GoModule } from "./go-module.ts";

/** A Go program as a scenario starts it. */
export interface GoProgramOptions {
  /** The name of its service account. */
  readonly name: string;
  readonly module: GoModule;
  /** Its arguments, without the program's name. Default: none. */
  readonly args?: readonly string[];
  /** Besides those by which it finds the cluster. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files that it finds, by path. Default: those by which it finds the cluster. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The port that its webhooks are served on. Default: 9443, as in controller-runtime. */
  readonly webhookPort?: number;
  /** Its own kinds: installed before it starts. */
  readonly kinds?: readonly AnyKind[];
  /** Default: everything. */
  readonly permissions?: readonly Permission[];
  /** Called with each line that a process prints. */
  readonly printed?: (line: string, process: number) => void;
}

import { Client } from "@konverge/client";
import type { Clock, Transport } from "@konverge/core";
import type { Log, Permission, PermissionDeclaration } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";

/** What a program is started with. */
export interface ProgramContext {
  /** Acts under the program's permissions. */
  readonly client: Client;
  /** The connection itself, for requests that the client has no verb for. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * An operator that is not written with controllers: a function that runs for as long as its process. When it throws, the
 * process ends and is started again.
 */
export interface Program {
  readonly name: string;
  readonly kinds: readonly AnyKind[];
  readonly permissions: readonly PermissionDeclaration[];
  main(context: ProgramContext): Promise<void>;
}

/** The permissions that a program declares. */
export function programPermissions({ permissions }: Program): Permission[] {
  return permissions.flatMap(({ kind, verbs, subresource }) => {
    const resource = subresource ? `${kind.plural}/${subresource}` : kind.plural;
    return verbs.map((verb) => ({ verb, group: kind.group, resource }));
  });
}

interface ProgramOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly home: string;
  readonly log: Log;
  /** The program returned or threw. */
  readonly exited: (error: unknown) => void;
}

/** A program as one process has it. */
export class ProgramProcess {
  readonly webhooks = undefined;
  readonly client: Client;
  readonly #program: Program;
  readonly #options: ProgramOptions;

  constructor(program: Program, options: ProgramOptions) {
    const { transport, clock, home } = options;
    this.#program = program;
    this.#options = options;
    this.client = new Client(transport, { clock, namespace: home, userAgent: program.name });
  }

  async start(): Promise<void> {
    const { transport, clock, log, exited } = this.#options;
    this.#program.main({ client: this.client, transport, clock, log }).then(() => exited("it returned"), exited);
  }

  /** A program does not exit: it is killed. */
  async stop(): Promise<void> {}

  kill(): void {}

  async metrics(): Promise<string> {
    return "";
  }
}

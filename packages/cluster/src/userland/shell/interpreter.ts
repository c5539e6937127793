import { FileError, WriteError } from "../file-error.ts";
import { Input } from "../input.ts";
import type { Holding } from "../limits/memory.ts";
import { BrokenPipe, Pipe } from "../pipe.ts";
import { noInput, type Process, type Room, type Streams } from "../process.ts";
import { BUILTINS, type Builtin } from "./builtins.ts";
import { ExitShell, LeaveFunction, LeaveLoop } from "./control-flow.ts";
import { type ExpansionScope, expandPattern, expandText, expandWords } from "./expansion.ts";
import { parseScript } from "./parser.ts";
import { Glob } from "./pattern.ts";
import { redirected } from "./redirection.ts";
import { ShellNames } from "./shell-names.ts";
import { type Node, type Redirection, type Script, ShellSyntaxError } from "./syntax.ts";

/** Functions that call one another stop here, as in dash. */
const DEEPEST_CALL = 1000;
/** What a shell takes before it does anything, in bytes. */
const SHELL = 64 * 1024;
/** What Linux lets a command line and its environment hold, and one argument, in bytes. */
const LONGEST_COMMAND = 2 * 1024 * 1024;
const LONGEST_ARGUMENT = 128 * 1024;
const TOO_LONG = 126;
/** Commands that shells carry out themselves, without a new process. */
const OWN = new Set(["echo", "printf", "test", "[", "[[", "true", "false"]);
const BROKEN_PIPE = 141;
/** What a piece of output, or a word, takes besides its characters, in bytes. */
const PIECE_SIZE = 64;
/** Bytes of environment that are one step of copying them. */
const ENVIRONMENT_PER_STEP = 8 * 1024;
/** Characters of a script that are one step of reading it. */
const PER_PARSED = 8;

/**
 * A POSIX-like shell: it interprets scripts with the commands and the files of a simulated container. Pipes, lists,
 * compound commands, functions, expansions, redirections, traps and background jobs are there; job control is not.
 */
export class Shell implements ExpansionScope {
  readonly process: Process;
  readonly memory: Holding;
  readonly names: ShellNames;
  readonly options: Set<string>;
  readonly traps = new Map<string, string>();
  /** What runs in the background. */
  readonly jobs = new Set<Promise<number>>();
  cwd: string;
  name: string;
  status = 0;
  #parameters: readonly string[];
  /** Bytes that it holds for them. */
  #parametersHeld = 0;
  /** Functions that have been called and have not returned. */
  #calls: number;
  /** Of all that ran in the background: how many, and how the last one ended. */
  #started = 0;
  #last: Promise<number> | undefined;
  /** Above 0 a failing command is expected: it does not end the shell. */
  #guards = 0;
  /** Above 0 it is in an infinite loop. */
  #endless: number;

  constructor(process: Process, name: string, parameters: readonly string[], parent?: Shell) {
    this.process = process;
    this.memory = process.memory.open();
    this.name = name;
    this.#parameters = parameters;
    this.cwd = parent?.cwd ?? process.cwd;
    this.memory.hold(SHELL);
    this.names = new ShellNames(this.memory, parent?.names ?? process.env);
    this.#calls = parent ? parent.#calls : 0;
    this.options = new Set(parent?.options);
    this.#endless = parent ? parent.#endless : process.endless ? 1 : 0;
    this.status = parent?.status ?? 0;
  }

  get files() {
    return this.process.files;
  }

  get strict(): boolean {
    return this.options.has("u");
  }

  spend(steps: number): Promise<void> | undefined {
    return this.process.spend(steps, this.#endless > 0);
  }

  get parameters(): readonly string[] {
    return this.#parameters;
  }

  /** Sets the positional parameters. */
  set parameters(words: readonly string[]) {
    const size = sizeOf(words);
    this.memory.hold(size - this.#parametersHeld);
    this.#parametersHeld = size;
    this.#parameters = words;
  }

  get(name: string): string | undefined {
    if (name === "?") return String(this.status);
    if (name === "#") return String(this.parameters.length);
    if (name === "@" || name === "*") {
      this.memory.checkText(sizeOf(this.#parameters));
      return this.#parameters.join(" ");
    }
    if (name === "$") return "1";
    if (name === "!") return String(this.#started);
    if (name === "-") return [...this.options].filter((option) => option.length === 1).join("");
    if (name === "0") return this.name;
    if (/^\d+$/.test(name)) return this.parameters[Number(name) - 1];
    if (name === "PWD") return this.cwd;
    return this.names.variable(name);
  }

  set(name: string, value: string): void {
    this.names.set(name, value);
    if (this.options.has("a")) this.names.export(name);
  }

  async capture(script: Script): Promise<string> {
    const held = this.memory.open();
    const pieces: Buffer[] = [];
    let length = 0;
    const stdout = (data: string | Uint8Array): Room => {
      const piece = Buffer.from(data as string);
      length += piece.length;
      held.checkText(length);
      held.hold(piece.length + PIECE_SIZE);
      pieces.push(piece);
      return undefined;
    };
    try {
      this.status = await this.#apart(script, { ...this.#streams(), stdout });
      return Buffer.concat(pieces).toString("utf8");
    } finally {
      held.close();
    }
  }

  #streams(): Streams {
    const { stdin, stdout, stderr } = this.process;
    return {
      stdin,
      stdout: (data) => stdout.call(this.process, data),
      stderr: (data) => stderr.call(this.process, data),
    };
  }

  /** Runs a whole script and returns its exit code; reports a syntax error. */
  async interpret(text: string): Promise<number> {
    try {
      return await this.#interpret(text);
    } finally {
      this.memory.close();
    }
  }

  async #interpret(text: string): Promise<number> {
    const streams = this.#streams();
    try {
      await this.runText(text, streams);
    } catch (error) {
      if (error instanceof ExitShell) this.status = error.status;
      else if (error instanceof ShellSyntaxError) {
        streams.stderr(`${this.name}: ${error.message}\n`);
        this.status = 2;
      } else if (!(error instanceof LeaveFunction || error instanceof LeaveLoop)) throw error;
    }
    await this.#runTrap("EXIT", streams);
    return this.status;
  }

  /** Reads and runs a script in this very shell. */
  async runText(text: string, streams: Streams): Promise<number> {
    await this.spend(1 + text.length / PER_PARSED);
    return this.runScript(parseScript(text), streams);
  }

  async #runTrap(name: string, streams: Streams): Promise<void> {
    const script = this.traps.get(name);
    this.traps.delete(name);
    if (!script) return;
    const { status } = this;
    try {
      await this.runText(script, streams);
      this.status = status;
    } catch (error) {
      if (!(error instanceof ExitShell)) throw error;
      this.status = error.status;
    }
  }

  /** SIGTERM of the container: its trap decides. */
  terminated(): void {
    const script = this.traps.get("TERM");
    if (!script) return;
    this.runText(script, this.#streams()).catch((error: unknown) => {
      this.process.exit(error instanceof ExitShell ? error.status : 143);
    });
  }

  async runScript(script: Script, streams: Streams): Promise<number> {
    for (const node of script) await this.run(node, streams);
    return this.status;
  }

  async run(node: Node, streams: Streams): Promise<number> {
    const pause = this.spend(1);
    if (pause) await pause;
    this.status = await this.#evaluate(node, streams);
    const mayEnd = node.kind === "simple" || node.kind === "pipeline" || node.kind === "subshell";
    if (this.status !== 0 && mayEnd && this.options.has("e") && this.#guards === 0) throw new ExitShell(this.status);
    return this.status;
  }

  async #evaluate(node: Node, streams: Streams): Promise<number> {
    switch (node.kind) {
      case "simple":
        return this.#simple(node, streams);
      case "pipeline":
        return this.#pipeline(node, streams);
      case "list":
        return this.#list(node, streams);
      case "background":
        this.#startJob(this.#apart([node.body], { ...streams, stdin: new Input(noInput()) }).catch(() => 143));
        return 0;
      case "function":
        this.names.define(node);
        return 0;
      default:
        return this.#withStreams(node.redirections, streams, (io) => this.#compound(node, io));
    }
  }

  /** Every command but the last is expected to fail. */
  async #list({ first, rest }: Extract<Node, { kind: "list" }>, streams: Streams): Promise<number> {
    const last = rest.at(-1)?.command;
    let status = await this.#guarded(() => this.run(first, streams));
    for (const { operator, command } of rest) {
      if ((status === 0) !== (operator === "&&")) continue;
      const run = () => this.run(command, streams);
      status = await (command === last ? run() : this.#guarded(run));
    }
    return status;
  }

  #startJob(job: Promise<number>): void {
    this.#started++;
    this.#last = job;
    this.jobs.add(job);
    void job.then(() => this.jobs.delete(job));
  }

  /** Waits for all that runs in the background. */
  async wait(): Promise<number> {
    await Promise.all(this.jobs);
    const last = this.#last;
    this.#last = undefined;
    return (await last) ?? 0;
  }

  async #compound(node: Extract<Node, { redirections: unknown }>, streams: Streams): Promise<number> {
    switch (node.kind) {
      case "group":
        return this.runScript(node.body, streams);
      case "subshell":
        return this.#apart(node.body, streams);
      case "if":
        for (const { condition, body } of node.branches) {
          const met = await this.#guarded(() => this.runScript(condition, streams));
          if (met === 0) return this.#body(body, streams);
        }
        return node.otherwise ? this.#body(node.otherwise, streams) : 0;
      case "loop":
        return this.#loop(node, streams);
      case "for":
        return this.#for(node, streams);
      case "case": {
        const body = await this.#chosen(node);
        return body ? this.#body(body, streams) : 0;
      }
      default:
        throw new ShellSyntaxError("syntax error");
    }
  }

  async #chosen({ subject, choices }: Extract<Node, { kind: "case" }>): Promise<Script | undefined> {
    const text = await expandText(this, subject);
    for (const { patterns, body } of choices)
      for (const pattern of patterns)
        if (await new Glob(await expandPattern(this, pattern)).matches(text, this)) return body;
    return undefined;
  }

  async #body(body: Script, streams: Streams): Promise<number> {
    this.status = 0;
    return this.runScript(body, streams);
  }

  async #loop(node: Extract<Node, { kind: "loop" }>, streams: Streams): Promise<number> {
    const endless = isEndless(node);
    if (endless) this.#endless++;
    let status = 0;
    try {
      for (;;) {
        const met = await this.#guarded(() => this.runScript(node.condition, streams));
        if ((met === 0) === node.until) return status;
        const continues = await this.#turn(() => this.runScript(node.body, streams));
        status = this.status;
        if (!continues) return status;
      }
    } finally {
      if (endless) this.#endless--;
    }
  }

  async #for(node: Extract<Node, { kind: "for" }>, streams: Streams): Promise<number> {
    const held = this.memory.open();
    try {
      const values = node.words ? await expandWords(this, node.words, held) : this.parameters;
      let status = 0;
      for (const value of values) {
        await this.spend(1);
        this.set(node.name, value);
        const continues = await this.#turn(() => this.runScript(node.body, streams));
        status = this.status;
        if (!continues) break;
      }
      return status;
    } finally {
      held.close();
    }
  }

  /** One turn of a loop: false when it was the last. */
  async #turn(body: () => Promise<unknown>): Promise<boolean> {
    try {
      await body();
      return true;
    } catch (error) {
      if (!(error instanceof LeaveLoop)) throw error;
      this.status = 0;
      if (error.levels > 1) throw new LeaveLoop(error.levels - 1, error.isContinue);
      return error.isContinue;
    }
  }

  async #guarded(work: () => Promise<number>): Promise<number> {
    this.#guards++;
    try {
      return await work();
    } finally {
      this.#guards--;
    }
  }

  async #pipeline({ commands, negated }: Extract<Node, { kind: "pipeline" }>, streams: Streams): Promise<number> {
    const run = () => (commands.length === 1 ? this.run(commands[0]!, streams) : this.#piped(commands, streams));
    const status = negated ? await this.#guarded(run) : await run();
    return negated ? Number(status === 0) : status;
  }

  async #piped(commands: readonly Node[], streams: Streams): Promise<number> {
    const pipes = commands.slice(1).map(() => new Pipe(this.memory));
    const statuses = await Promise.all(
      commands.map(async (command, index) => {
        const [before, after] = [pipes[index - 1], pipes[index]];
        const io: Streams = {
          stdin: before ? new Input(before.read()) : streams.stdin,
          stdout: after ? (data) => after.write(data) : streams.stdout,
          stderr: streams.stderr,
        };
        try {
          return await this.#apart([command], io);
        } finally {
          after?.end();
          before?.leave();
        }
      }),
    );
    const failed = this.options.has("pipefail") ? statuses.findLast((status) => status !== 0) : undefined;
    return failed ?? statuses.at(-1) ?? 0;
  }

  /** Runs a script in a subshell: what it sets is discarded afterwards. */
  async #apart(script: Script, streams: Streams): Promise<number> {
    await this.spend(2 + this.names.count / 16);
    const inner = new Shell(this.process, this.name, this.parameters, this);
    try {
      return await inner.runScript(script, streams);
    } catch (error) {
      if (error instanceof ExitShell) return error.status;
      if (error instanceof BrokenPipe) return BROKEN_PIPE;
      if (!(error instanceof ShellSyntaxError)) throw error;
      streams.stderr(`${this.name}: ${error.message}\n`);
      return 2;
    } finally {
      inner.memory.close();
    }
  }

  async #simple(node: Extract<Node, { kind: "simple" }>, streams: Streams): Promise<number> {
    const held = this.memory.open();
    try {
      const argv = await expandWords(this, node.words, held);
      const assigned: [string, string][] = [];
      for (const { name, value } of node.assignments) {
        const text = await expandText(this, value);
        held.hold(text.length);
        assigned.push([name, text]);
      }
      if (argv.length === 0) {
        held.close();
        for (const [name, value] of assigned) this.set(name, value);
        const hasCommand = node.assignments.some(({ value }) => value.some(({ kind }) => kind === "command"));
        const { status } = this;
        return await this.#withStreams(node.redirections, streams, async () => (hasCommand ? status : 0));
      }
      if (this.options.has("x")) await streams.stderr(`+ ${argv.join(" ")}\n`);
      return await this.#withStreams(node.redirections, streams, (io) => this.#command(argv, assigned, io));
    } finally {
      held.close();
    }
  }

  async #command(argv: readonly string[], assigned: readonly [string, string][], io: Streams): Promise<number> {
    const [name = ""] = argv;
    const known = this.names.function(name);
    if (known) return this.#call(known.body, argv.slice(1), io);
    const builtin = BUILTINS[name];
    if (builtin) {
      for (const [variable, value] of assigned) this.set(variable, value);
      return this.#builtin(builtin, argv, io);
    }
    return this.execute(argv, io, Object.fromEntries(assigned));
  }

  async #builtin(builtin: Builtin, argv: readonly string[], io: Streams): Promise<number> {
    try {
      return await builtin(this, argv, io);
    } catch (error) {
      if (!(error instanceof WriteError)) throw error;
      io.stderr(`${this.name}: ${error.message}\n`);
      return 1;
    }
  }

  /** Runs a command that is not of this shell. */
  async execute(argv: readonly string[], io: Streams, variables: Record<string, string> = {}): Promise<number> {
    const { env: exported, size } = this.names.environment();
    const env = { PWD: this.cwd, ...exported, ...variables };
    const pause = this.spend(size / ENVIRONMENT_PER_STEP);
    if (pause) await pause;
    const isOwn = OWN.has(argv[0] ?? "");
    if (!isOwn && isTooLong([...argv, ...Object.values(env)])) {
      io.stderr(`${this.name}: ${argv[0]}: Argument list too long\n`);
      return TOO_LONG;
    }
    const held = this.memory.open();
    try {
      held.hold(size);
      const status = await this.process.run(argv, { ...io, env, cwd: this.cwd, endless: this.#endless > 0 });
      // A builtin that writes into a closed pipe kills the shell with the signal that would have killed the command.
      if (isOwn && status === BROKEN_PIPE) throw new BrokenPipe();
      return status;
    } finally {
      held.close();
    }
  }

  async #call(body: Node, parameters: readonly string[], io: Streams): Promise<number> {
    if (this.#calls >= DEEPEST_CALL)
      throw new ShellSyntaxError(`Maximum function recursion depth (${DEEPEST_CALL}) reached`);
    const [before, heldBefore] = [this.#parameters, this.#parametersHeld];
    // Its own belong to the command that called it.
    [this.#parameters, this.#parametersHeld] = [parameters, 0];
    this.#calls++;
    try {
      return await this.run(body, io);
    } catch (error) {
      if (error instanceof LeaveFunction) return error.status;
      throw error;
    } finally {
      this.#calls--;
      this.memory.release(this.#parametersHeld);
      [this.#parameters, this.#parametersHeld] = [before, heldBefore];
    }
  }

  /** Runs with some of its streams led elsewhere. */
  async #withStreams(
    redirections: readonly Redirection[],
    streams: Streams,
    work: (streams: Streams) => Promise<number>,
  ): Promise<number> {
    if (redirections.length === 0) return work(streams);
    const held = this.memory.open();
    try {
      const io = await this.#redirected(redirections, streams, held);
      return io ? await work(io) : 1;
    } finally {
      held.close();
    }
  }

  /** The streams after redirections; undefined when one of them failed, which is reported. */
  async #redirected(
    redirections: readonly Redirection[],
    streams: Streams,
    held: Holding,
  ): Promise<Streams | undefined> {
    let io = streams;
    try {
      for (const redirection of redirections) io = await redirected(this, redirection, io, held);
      return io;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      streams.stderr(`${this.name}: can't create ${error.path}: ${error.message}\n`);
      return undefined;
    }
  }
}

function sizeOf(words: readonly string[]): number {
  return words.reduce((size, word) => size + word.length + PIECE_SIZE, 0);
}

function isTooLong(texts: readonly string[]): boolean {
  return texts.some(({ length }) => length > LONGEST_ARGUMENT) || sizeOf(texts) > LONGEST_COMMAND;
}

/** `while true`, `while :`, `until false`. */
function isEndless({ condition, until }: Extract<Node, { kind: "loop" }>): boolean {
  const [only, ...more] = condition;
  if (more.length > 0 || only?.kind !== "simple" || only.words.length !== 1) return false;
  const [part] = only.words[0] ?? [];
  if (part?.kind !== "text") return false;
  return until ? part.text === "false" : part.text === "true" || part.text === ":" || part.text === "1";
}

import { readFileSync } from "node:fs";
import { withExportedGlobals } from "./exported-globals.ts";
import { type FunctionHost, hostFunctions } from "./host-functions.ts";
import { type WasmMemory, type WasmModule, wasm } from "./web-assembly.ts";

/** The module that Go's js port imports its functions from. */
const IMPORTED = "gojs";

/** A program that Go has compiled for js/wasm, compiled once for all its processes. */
export class GoModule {
  readonly module: WasmModule;

  private constructor(module: WasmModule) {
    this.module = module;
  }

  static async read(file: string): Promise<GoModule> {
    return GoModule.compile(readFileSync(file), file);
  }

  /** `name` is what messages call it. */
  static async compile(bytes: Uint8Array, name: string): Promise<GoModule> {
    let module: WasmModule;
    try {
      module = await wasm.compile(withExportedGlobals(bytes));
    } catch (error) {
      throw new GoProgramError(`${name} cannot be run: ${(error as Error).message}; ${HOW_TO_BUILD}`);
    }
    const known = hostFunctions({} as FunctionHost);
    for (const { module: from, name: wanted } of wasm.Module.imports(module)) {
      if (from === IMPORTED && wanted in known) continue;
      throw new GoProgramError(`${name} imports ${from} ${wanted}, which Go's js port does not have; ${HOW_TO_BUILD}`);
    }
    return new GoModule(module);
  }

  /** A new instance, with separate memory. */
  instantiate(host: FunctionHost): GoExports {
    const instance = new wasm.Instance(this.module, { [IMPORTED]: hostFunctions(host) });
    return instance.exports as unknown as GoExports;
  }
}

const HOW_TO_BUILD = "build it with GOOS=js GOARCH=wasm and Go 1.24 or newer";

/** A Go program that cannot be built or run. */
export class GoProgramError extends Error {
  override readonly name = "GoProgramError";
  readonly code = "KONVERGE_GO_PROGRAM";
}

/** What a program compiled by Go for js/wasm exports. */
export interface GoExports {
  readonly mem: WasmMemory;
  run(argc: number, argv: number): void;
  resume(): void;
  getsp(): number;
}

/** A memory of an instance, in pages of 64 KiB. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** A global variable of an instance. */
export interface WasmGlobal {
  value: number | bigint;
}

/** A compiled module; instances share its code. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

interface WasmNamespace {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Module: { imports(module: WasmModule): readonly { readonly module: string; readonly name: string }[] };
  readonly Instance: new (
    module: WasmModule,
    imports: object,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** The engine's own; Node's types know only a small part of it. */
export const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: WasmNamespace };

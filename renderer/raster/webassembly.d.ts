/** The part of WebAssembly that is used. Neither the types of Node nor those of the language have it. */
declare namespace WebAssembly {
  interface Global {
    readonly value: number;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: object;
  }
}

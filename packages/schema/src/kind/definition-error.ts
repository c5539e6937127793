/**
 * A definition says something that a CustomResourceDefinition cannot express. Thrown while the definition is read, so
 * that it is a mistake in the program and never a rejection by a server.
 */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
  readonly code = "KONVERGE_DEFINITION";
  /** Where in the definition: `LLMModel v1 spec.replicas`. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}

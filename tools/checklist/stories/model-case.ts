/** Names and values of a model, and where it is. */
export interface ModelCase {
  readonly namespace: string;
  readonly name: string;
  readonly model: string;
  readonly replicas: number;
  readonly gpuType: string;
}

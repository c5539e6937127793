// The projects whose manifests our operators serve, at the tag that is measured. Only names are kept here: the manifests come
// from the Go module proxy, or from a checkout of the project where no registry has them.

/** A project, and where its manifests are. */
export interface Upstream {
  readonly name: string;
  /** The operator that serves its kinds. */
  readonly operator: string;
  /** API groups of its kinds: a manifest counts if it has an object of one of them. */
  readonly groups: readonly string[];
  /** Kinds to count, where a group has others that belong to another project. Default: all of the groups. */
  readonly kinds?: RegExp;
  readonly tag: string;
  /** The Go module at that tag. Without it, the manifests are in the project's repository only: `--from DIR`. */
  readonly module?: string;
  /** Folders with manifests, in the module or in the checkout. */
  readonly folders: readonly string[];
  /** A folder whose objects an installation has before any manifest is applied. */
  readonly installed?: string;
  /** What belongs together is in several files: all files of a folder are one manifest. */
  readonly byFolder?: boolean;
  /** A folder with CustomResourceDefinitions of other software that the manifests use. */
  readonly definitions?: string;
  /** Folders in a checkout, where they differ from those of the module. */
  readonly checkoutFolders?: readonly string[];
}

export const UPSTREAMS: readonly Upstream[] = [
  {
    name: "ray",
    operator: "ray-operator",
    groups: ["ray.io"],
    tag: "v1.6.2",
    module: "github.com/ray-project/kuberay/ray-operator@v1.6.2",
    folders: ["config/samples"],
    checkoutFolders: ["ray-operator/config/samples"],
  },
  {
    name: "trainer",
    operator: "kubeflow-operator",
    groups: ["trainer.kubeflow.org"],
    tag: "v2.3.0",
    module: "github.com/kubeflow/trainer/v2@v2.3.0",
    folders: ["examples", "manifests/base/runtimes"],
    installed: "manifests/base/runtimes",
  },
  {
    name: "training-operator",
    operator: "kubeflow-operator",
    groups: ["kubeflow.org"],
    tag: "v1.8.1",
    module: "github.com/kubeflow/training-operator@v1.8.1",
    folders: ["examples"],
  },
  {
    name: "mpi-operator",
    operator: "kubeflow-operator",
    groups: ["kubeflow.org"],
    tag: "v0.7.0",
    module: "github.com/kubeflow/mpi-operator@v0.7.0",
    folders: ["examples"],
  },
  {
    name: "seldon",
    operator: "seldon-operator",
    groups: ["machinelearning.seldon.io"],
    tag: "v1.19.0",
    module: "github.com/seldonio/seldon-core/operator@v1.19.0",
    folders: ["config/samples", "controllers/testdata"],
    checkoutFolders: ["examples", "notebooks/resources", "operator/config/samples"],
  },
  {
    name: "dynamo",
    operator: "dynamo-operator",
    groups: ["nvidia.com"],
    kinds: /^Dynamo/,
    tag: "v1.4.1",
    folders: ["examples", "recipes"],
  },
  {
    name: "kro",
    operator: "kro-operator",
    groups: ["kro.run"],
    tag: "v0.9.4",
    module: "github.com/kubernetes-sigs/kro@v0.9.4",
    folders: ["examples"],
    byFolder: true,
    definitions: "test/integration/crds",
  },
];

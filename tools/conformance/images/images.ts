import type { Cluster, Image } from "@konverge/cluster";
import { agnhost } from "./agnhost.ts";
import { sampleApiServer } from "./sample-apiserver.ts";
import { forEver } from "./serve.ts";
import { serveFiles } from "./web-server.ts";

const REGISTRY = "registry.k8s.io/e2e-test-images";
const PAGES = "/usr/share/nginx/html";

/** A web server that answers with the files of a folder. */
const nginx: Image = {
  entrypoint: ["nginx"],
  commands: {
    nginx: async (process) => {
      serveFiles(process, 80, PAGES);
      return forEver(process);
    },
  },
  files: { [`${PAGES}/index.html`]: "<html><h1>Welcome to nginx!</h1></html>\n" },
};

/** The page of the update demo: which picture is shown. */
const picture = (name: string): Image => ({
  ...agnhost,
  cmd: ["test-webserver"],
  files: { "data.json": `{"image": "${name}.jpg"}\n`, "etc/os-release": 'PRETTY_NAME="Alpine Linux"\n' },
});

/** Registries in the specs from which no image can be pulled: one does not exist, the other requires credentials. */
const CLOSED = ["invalid.registry.k8s.io/", "gcr.io/k8s-authenticated-test/"];

/** Those of the images that e2e.test says it uses which a node without credentials can pull. */
export function pullable(images: readonly string[]): string[] {
  return images.filter((image) => !CLOSED.some((registry) => image.startsWith(registry)));
}

/**
 * The images of Kubernetes' specs, as programs of simulated containers. They do what the originals do, as far as
 * conformance specs use it, over the files and the network that the embedded cluster gives them.
 */
export function registerImages(cluster: Pick<Cluster, "image">): void {
  cluster.image(`${REGISTRY}/agnhost`, agnhost);
  cluster.image(`${REGISTRY}/nginx`, nginx);
  cluster.image(`${REGISTRY}/sample-apiserver`, sampleApiServer);
  cluster.image(`${REGISTRY}/nautilus`, picture("nautilus"));
  cluster.image(`${REGISTRY}/kitten`, picture("kitten"));
  cluster.image(`${REGISTRY}/nonewprivs`, {
    cmd: ["nnp"],
    setuid: ["nnp"],
    commands: {
      nnp: async ({ user, stdout }) => {
        stdout(`Effective uid: ${user.uid}\n`);
        return 0;
      },
    },
  });
  cluster.image(`${REGISTRY}/nonroot`, { user: 1234, entrypoint: ["id"], cmd: ["-u"], commands: {} });
  cluster.image(`${REGISTRY}/glibc-dns-testing`, { entrypoint: ["sleep"], cmd: ["infinity"], commands: {} });
}

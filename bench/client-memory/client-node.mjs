// Lists the namespaces with @kubernetes/client-node, says how many there are and waits.
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";

const config = new KubeConfig();
config.loadFromDefault();
const { items } = await config.makeApiClient(CoreV1Api).listNamespace();
console.log(items.length);
process.stdin.resume();

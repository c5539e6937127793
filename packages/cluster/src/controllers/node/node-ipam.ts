import { keyOf, parsePrefix } from "@konverge/core";
import { Node } from "@konverge/kinds";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ControlPlaneComponent, controllersComponent } from "../../parts/part.ts";

const NAME = "node-ipam-controller";
/** The bits of a node's range that all its addresses share, as kube-controller-manager has it for IPv4. */
const NODE_BITS = 24;
/** Pods do not get addresses of Services. */
const SERVICES = "10.96.0.0/16";

/** Addresses as numbers, both ends included. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** The addresses of an IPv4 prefix; undefined for what is none. */
function rangeOf(cidr: string): Range | undefined {
  const prefix = parsePrefix(cidr);
  if (typeof prefix === "string" || prefix.address.bytes.length !== 4) return undefined;
  const size = 2 ** (32 - prefix.bits);
  const address = Buffer.from(prefix.address.bytes).readUInt32BE();
  const first = address - (address % size);
  return { first, last: first + size - 1 };
}

const overlap = (a: Range, b: Range): boolean => a.first <= b.last && b.first <= a.last;

/** Allocates a pod CIDR to each node from the cluster CIDR. */
export function nodeIpam(clusterCidr: string): ControlPlaneComponent {
  const cluster = rangeOf(clusterCidr);
  const size = 2 ** (32 - NODE_BITS);
  if (!cluster || cluster.last - cluster.first + 1 < size) {
    throw new Error(
      `the cluster CIDR ${clusterCidr} must be a range of IPv4 addresses that has room for a /${NODE_BITS}`,
    );
  }
  const count = (cluster.last - cluster.first + 1) / size;
  return controllersComponent(NAME, [Node], () => {
    let next = 0;
    /** The ranges of nodes that the cache does not show with a pod CIDR yet. */
    const given = new Map<string, Range>();
    /** Round-robin, so that the range of a deleted node is not reused soon. */
    const allocate = (taken: readonly Range[]): Range | undefined => {
      for (let tried = 0; tried < count; tried++) {
        const first = cluster.first + ((next + tried) % count) * size;
        const range = { first, last: first + size - 1 };
        if (taken.some((one) => overlap(one, range))) continue;
        next = (next + tried + 1) % count;
        return range;
      }
      return undefined;
    };
    return [
      builtInController(Node, {
        name: NAME,
        async reconcile(node, { client, cache, events }) {
          const { name } = node.metadata;
          if (node.spec?.podCIDR) {
            given.delete(name);
            return undefined;
          }
          for (const one of [...given.keys()]) if (!cache.get(Node, one)) given.delete(one);
          const others = cache.list(Node).flatMap(({ spec }) => spec?.podCIDRs ?? []);
          const taken = [SERVICES, ...others].flatMap((cidr) => rangeOf(cidr) ?? []);
          const range = given.get(name) ?? allocate([...taken, ...given.values()]);
          if (!range) {
            events.normal("CIDRNotAvailable", `Node ${name} status is now: CIDRNotAvailable`);
            throw new Error(
              "failed to allocate cidr from cluster cidr at idx:0: CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range",
            );
          }
          given.set(name, range);
          const address = Buffer.alloc(4);
          address.writeUInt32BE(range.first);
          const podCIDR = `${address.join(".")}/${NODE_BITS}`;
          // Direct write: the node registers itself; only its range of addresses is assigned here.
          await client.patch(Node, keyOf(node), { strategic: { spec: { podCIDR, podCIDRs: [podCIDR] } } });
          return undefined;
        },
      }),
    ];
  });
}

// Keep something going for as long as an object is there: one daemon for each object, wherever it runs.
import { controller, defineKind, z } from "konverge";

export const Feed = defineKind({
  group: "examples.konverge.dev",
  kind: "Feed",
  versions: {
    v1: {
      spec: z.object({ channel: z.string() }),
      status: z.object({ channel: z.string().optional(), latest: z.int().optional() }),
    },
  },
});

/** Stands for something that is followed: a stream, a socket, a device. */
export interface Channels {
  messages(channel: string, signal: AbortSignal): AsyncIterable<number>;
}

export function feeds(channels: Channels) {
  // Do not rely on what a daemon has observed: a restart loses it, and it is observed again.
  const latest = new Map<string, number>();
  return controller(Feed, {
    daemons: {
      follow: {
        // A new channel needs a new daemon; any other change keeps this one.
        basis: ({ spec }) => spec.channel,
        async run({ metadata, spec }, { signal, requeue }) {
          for await (const message of channels.messages(spec.channel, signal)) {
            latest.set(metadata.uid ?? "", message);
            // The reconciler still decides the desired state.
            requeue();
          }
        },
      },
    },
    reconcile: ({ metadata, spec }) => ({ status: { channel: spec.channel, latest: latest.get(metadata.uid ?? "") } }),
  });
}

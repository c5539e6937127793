import type { Container, PodSpec, Probe, Volume, VolumeMount } from "@konverge/kinds";

/** Where a pod tries to get to. */
export interface Targets {
  /** A folder of this machine. */
  readonly folder: string;
  /** A file of this machine. */
  readonly file: string;
  /** A port of this machine's loopback interface. */
  readonly port: number;
  /** This machine's name and the addresses of its interfaces. */
  readonly hosts: readonly string[];
}

const IMAGE = "busybox:1.37";
const FOREVER = ["sh", "-c", "while true; do sleep 1; done"];

/** Every kind of volume that pods can fill or share. */
function volumes({ folder, file }: Targets): Volume[] {
  const fieldRef = { fieldPath: "metadata.name" };
  return [
    { name: "map", configMap: { name: "words", items: [{ key: "word", path: "a/word" }] } },
    { name: "whole", configMap: { name: "words" } },
    { name: "secret", secret: { secretName: "words" } },
    { name: "downward", downwardAPI: { items: [{ path: "x/name", fieldRef }] } },
    {
      name: "projected",
      projected: {
        sources: [
          { serviceAccountToken: { path: "deep/token" } },
          { configMap: { name: "words" } },
          { downwardAPI: { items: [{ path: "name", fieldRef }] } },
        ],
      },
    },
    { name: "empty", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory" } },
    { name: "claim", persistentVolumeClaim: { claimName: "disk" } },
    { name: "host-root", hostPath: { path: "/" } },
    { name: "host-folder", hostPath: { path: folder, type: "DirectoryOrCreate" } },
    { name: "host-file", hostPath: { path: file } },
    { name: "host-relative", hostPath: { path: "etc" } },
    { name: "host-socket", hostPath: { path: "/var/run/docker.sock" } },
    { name: "image", image: { reference: "busybox" } },
  ];
}

const MOUNT_PATHS = (folder: string) => [
  "/plain",
  "relative",
  "../../../escaped",
  "/../../../escaped-absolute",
  `${folder}/direct`,
  `../../../..${folder}/climbing`,
  "/proc/self/root/x",
  "/dev/shm/x",
  "/sys/x",
  "~/home",
  "$HOME/variable",
  "C:\\Windows",
  "\\\\server\\share",
];

/** Whatever is mounted: what it contains is read, and something is written beside and into it. */
const RUMMAGE = (paths: readonly string[]) =>
  paths
    .map((path) => `ls -R '${path}'; echo pwned > '${path}'; echo pwned > '${path}/pwned'; rm -rf '${path}/x'`)
    .join("\n");

/** What a shell tries to reach. */
export function reachingScript({ folder, file, port, hosts }: Targets): string {
  const addresses = [
    "127.0.0.1",
    "localhost",
    "127.1",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "169.254.169.254",
    "host.docker.internal",
    "example.com",
    "outward",
    "sideways",
    ...hosts.map((host) => (host.includes(":") ? `[${host}]` : host)),
  ];
  return [
    `cat ${file}; cat ${file} > /tmp/copy; cp ${file} /tmp/; echo pwned > ${file}; echo pwned >> ${folder}/shell`,
    `mkdir -p ${folder}/made; touch ${folder}/touched; ln -s ${folder} /tmp/link; echo pwned > /tmp/link/through`,
    `rm -rf ${folder}; mv ${file} /tmp/moved; chmod 777 ${file}; tar cf ${folder}/x.tar /etc; dd if=${file} of=/tmp/dd`,
    "cat /etc/passwd /proc/self/environ /proc/1/root/etc/passwd /proc/self/maps; ls -la / /proc /root /home; pwd; env; id",
    "mount; df; ps; reboot; node -e 'process.exit(1)'; python3 -c 'print(1)'; exec /usr/bin/env",
    "$(node -e 1) `node -e 1`; eval 'node -e 1'; . /etc/profile; constructor; __proto__; toString; hasOwnProperty x",
    ...addresses.flatMap((host) => [
      `wget -q -T 1 -O - http://${host}:${port}/; curl -m 1 -s http://${host}:${port}/ -o ${folder}/curl`,
      `echo | nc -w 1 ${host.replace(/^\[|\]$/g, "")} ${port}; nslookup ${host}; ping -c 1 ${host}`,
    ]),
    `curl -s file://${file}; wget -q -O - file://${file}; curl -s -m 1 unix:/var/run/docker.sock`,
    `echo | nc -u -w 1 127.0.0.1 ${port}; echo | nc -u -w 1 example.com 53`,
  ]
    .map((line) => `(${line})`)
    .concat("echo done")
    .join("\n");
}

function probes({ port, hosts }: Targets): readonly Probe[] {
  const often = { periodSeconds: 1, failureThreshold: 1000 };
  return ["127.0.0.1", "localhost", "example.com", ...hosts].flatMap((host) => [
    { httpGet: { host, port, path: "/" }, ...often },
    { tcpSocket: { host, port }, ...often },
    { exec: { command: ["sh", "-c", `wget -q -T 1 -O - http://${host}:${port}/`] }, ...often },
    { grpc: { port }, ...often },
  ]);
}

/** Pods that try to get out, by name. The server refuses some of them; the others run. */
export function hostilePods(targets: Targets): ReadonlyMap<string, PodSpec> {
  const { folder, port } = targets;
  const pods = new Map<string, PodSpec>();
  const add = (name: string, container: Partial<Container>, more: Partial<PodSpec> = {}) =>
    pods.set(name, {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "main", image: IMAGE, command: FOREVER, ...container }],
      ...more,
    });
  const all = volumes(targets);
  const paths = MOUNT_PATHS(folder);
  for (const [index, volume] of all.entries()) {
    const volumeMounts = paths.map((mountPath) => ({ name: volume.name, mountPath }));
    add(`volume-${index}`, { command: ["sh", "-c", RUMMAGE(paths)], volumeMounts }, { volumes: [volume] });
    // What only seems to run has volumes as well.
    add(`seeming-${index}`, { image: "example/unknown", volumeMounts }, { volumes: [volume] });
  }
  const parts: Omit<VolumeMount, "name">[] = [
    { mountPath: "/a", subPath: "../../x" },
    { mountPath: "/a", subPath: "/etc" },
    { mountPath: "../../a", subPath: "a/word" },
    { mountPath: "/a", subPathExpr: "$(UP)" },
    { mountPath: "/a", subPathExpr: "$(ROOT)" },
    { mountPath: "/a", subPathExpr: "$(FROM_MAP)/x" },
    { mountPath: "../../../../a", subPathExpr: "$(PLAIN)" },
  ];
  const env = [
    { name: "UP", value: "../../../x" },
    { name: "ROOT", value: folder },
    { name: "PLAIN", value: "a" },
    { name: "FROM_MAP", valueFrom: { configMapKeyRef: { name: "words", key: "path" } } },
  ];
  for (const [index, part] of parts.entries()) {
    for (const name of ["map", "empty", "host-root"])
      add(
        `part-${name}-${index}`,
        { command: ["sh", "-c", RUMMAGE(["/a"])], env, volumeMounts: [{ name, ...part }] },
        { volumes: all.filter((one) => one.name === name) },
      );
  }
  for (const [index, path] of [`${folder}/words`, "../../../words", "relative", "/etc/passwd"].entries()) {
    const command = ["sh", "-c", `echo last words > ${path}; pwd; exit 1`];
    add(`words-${index}`, { command, terminationMessagePath: path, workingDir: path });
  }
  add("shell", { command: ["sh", "-c", reachingScript(targets)] });
  const privileged = { privileged: true };
  add(
    "privileged",
    { command: ["sh", "-c", reachingScript(targets)], securityContext: privileged },
    { hostNetwork: true, hostPID: true, hostIPC: true },
  );
  for (const [index, probe] of probes(targets).entries()) {
    add(`ready-${index}`, { readinessProbe: probe });
    add(`live-${index}`, { image: "example/unknown", livenessProbe: probe });
  }
  for (const [index, host] of ["127.0.0.1", "localhost", "example.com", ...targets.hosts].entries()) {
    const httpGet = { host, port, path: "/" };
    for (const image of [IMAGE, "example/unknown"])
      add(`hook-${image.replace(/[^a-z]/g, "")}-${index}`, {
        image,
        lifecycle: { postStart: { httpGet }, preStop: { httpGet } },
      });
  }
  // The image of operators, which is no program unless operators were asked for.
  const files = [["--record", `${folder}/recorded`], [targets.file], ["--kubeconfig", targets.file], ["--watch"]];
  for (const [index, args] of files.entries())
    add(`operators-${index}`, { image: "konverge/operators", command: [], args: ["run", ...args] });
  add("ports", { ports: [{ containerPort: port, hostPort: port }] }, { hostNetwork: true });
  return pods;
}

/** Commands that are executed in a container from outside. */
export function hostileCommands({ folder, file, port }: Targets): readonly (readonly string[])[] {
  return [
    ["/bin/bash", "-c", `cat ${file}; echo pwned > ${folder}/exec`],
    ["sh", "-c", `node -e 'require("fs").writeFileSync("${folder}/node", "")'`],
    ["node", "-e", `require("fs").writeFileSync("${folder}/node", "")`],
    ["../../../../bin/sh", "-c", `echo pwned > ${folder}/relative`],
    [process.execPath, "-e", "1"],
    ["cat", file],
    ["sh", "-c", `echo pwned | tee ${folder}/tee`],
    ["tar", "cf", `${folder}/x.tar`, "/etc"],
    ["cp", "/etc/passwd", folder],
    ["wget", "-q", "-T", "1", `http://127.0.0.1:${port}/`],
    ["sh", "-c", `echo | nc -w 1 127.0.0.1 ${port}`],
    ["constructor"],
    ["__proto__"],
    ["toString", "x"],
    [""],
    ["sh", "-c", "constructor; toString; __proto__; valueOf"],
  ];
}

import type { Step } from "./story.ts";

/** `kubectl proxy`, and what comes through it from a path of the server. */
export function proxied(path: string): Step {
  return {
    name: `kubectl proxy, and GET ${path} through it`,
    async run(session) {
      let answer = "";
      const { code, stderr } = await session.kubectl(["proxy", "--port=0"], {
        async enough(stdout) {
          const port = /:(\d+)\s*$/.exec(stdout)?.[1];
          if (!port) return false;
          const response = await fetch(`http://127.0.0.1:${port}${path}`);
          answer = `${response.status} ${await response.text()}`;
          return true;
        },
      });
      return { code, stderr, stdout: answer };
    },
  };
}

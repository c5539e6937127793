import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Supported versions","description":"","frontmatter":{},"headers":[],"relativePath":"reference/versions.md","filePath":"reference/versions.md"}');
const _sfc_main = { name: "reference/versions.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="supported-versions" tabindex="-1">Supported versions <a class="header-anchor" href="#supported-versions" aria-label="Permalink to &quot;Supported versions&quot;">​</a></h1><table tabindex="0"><thead><tr><th></th><th></th></tr></thead><tbody><tr><td>Kubernetes, as a client (framework, operators)</td><td>1.31 and newer</td></tr><tr><td>Kubernetes, as served by the embedded cluster</td><td>1.36</td></tr><tr><td>Node, to run</td><td>24 and newer; on an older one the library says so, and the <code>konverge</code> command uses the Node that is installed beside it</td></tr><tr><td>Bun, Deno</td><td>the library and the embedded cluster run on Bun 1 and Deno 2 (<code>npm run pack -- --runtimes</code>); <code>hotReload</code> and the command need Node</td></tr><tr><td>Zod</td><td>4.2 and newer, installed beside Konverge</td></tr><tr><td>machines</td><td>designed for Linux and macOS on x86_64 and arm64; the tests run on Linux x86_64</td></tr></tbody></table><p>Kubernetes guarantees comparable resourceVersions since 1.35. On older servers, reading your own writes is best effort: versions that are integers, as etcd&#39;s are, are compared anyway.</p><p>The suites of the client and the runtime also run on an older real server, which is built first if necessary:</p><div class="language-sh vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">sh</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#6F42C1;--shiki-dark:#B392F0;">npm</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> run</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> test:real</span><span style="--shiki-light:#005CC5;--shiki-dark:#79B8FF;"> --</span><span style="--shiki-light:#005CC5;--shiki-dark:#79B8FF;"> --kubernetes</span><span style="--shiki-light:#005CC5;--shiki-dark:#79B8FF;"> 1.34.4</span></span></code></pre></div><p><code>npm run real:build</code> builds the control plane that the other suites use, from the Go module proxy. If <code>KUBEBUILDER_ASSETS</code> is set, the binaries in that folder are used instead.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/versions.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const versions = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  versions as default
};

import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Peers","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/index.md","filePath":"source/tools/peers/index.md"}');
const _sfc_main = { name: "source/tools/peers/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="peers" tabindex="-1">Peers <a class="header-anchor" href="#peers" aria-label="Permalink to &quot;Peers&quot;">​</a></h1><p><code>tools/peers</code></p><ul><li><a href="/source/tools/peers/build.ts.html">build.ts</a></li><li><a href="/source/tools/peers/catalogue.ts.html">catalogue.ts</a></li><li><a href="/source/tools/peers/client-node/">client-node/</a></li><li><a href="/source/tools/peers/client-node.real.test.ts.html">client-node.real.test.ts</a></li><li><a href="/source/tools/peers/controller-runtime/">controller-runtime/</a></li><li><a href="/source/tools/peers/controller-runtime.real.test.ts.html">controller-runtime.real.test.ts</a></li><li><a href="/source/tools/peers/echo.ts.html">echo.ts</a></li><li><a href="/source/tools/peers/helm-chart/">helm-chart/</a></li><li><a href="/source/tools/peers/helm.real.test.ts.html">helm.real.test.ts</a></li><li><a href="/source/tools/peers/index.ts.html">index.ts</a></li><li><a href="/source/tools/peers/kopf/">kopf/</a></li><li><a href="/source/tools/peers/kopf.real.test.ts.html">kopf.real.test.ts</a></li><li><a href="/source/tools/peers/kube-rs/">kube-rs/</a></li><li><a href="/source/tools/peers/kube-rs.real.test.ts.html">kube-rs.real.test.ts</a></li><li><a href="/source/tools/peers/on-both-servers.ts.html">on-both-servers.ts</a></li><li><a href="/source/tools/peers/package.json.html">package.json</a></li><li><a href="/source/tools/peers/peer.ts.html">peer.ts</a></li><li><a href="/source/tools/peers/program.ts.html">program.ts</a></li><li><a href="/source/tools/peers/stage.ts.html">stage.ts</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};

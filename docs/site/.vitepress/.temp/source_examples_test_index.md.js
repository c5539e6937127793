import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Test","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/examples/test/index.md","filePath":"source/examples/test/index.md"}');
const _sfc_main = { name: "source/examples/test/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="test" tabindex="-1">Test <a class="header-anchor" href="#test" aria-label="Permalink to &quot;Test&quot;">​</a></h1><p><code>examples/test</code></p><ul><li><a href="/source/examples/test/embedded.ts.html">embedded.ts</a></li><li><a href="/source/examples/test/examples.real.test.ts.html">examples.real.test.ts</a></li><li><a href="/source/examples/test/place.ts.html">place.ts</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/examples/test/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};

// The default theme with system fonts and our colors: nothing is loaded from elsewhere.
import theme from "vitepress/theme-without-fonts";
import "./brand.css";

export default theme;

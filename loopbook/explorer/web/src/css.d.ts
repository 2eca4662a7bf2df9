/** Style sheets that a module brings along; esbuild puts them into one. */
declare module "*.css";

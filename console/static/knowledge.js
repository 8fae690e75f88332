// Knowledge: the keys.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  Interlock.rows("page");
  Interlock.keys.add({ keys: "/", says: "Search", run: () => document.getElementById("q").focus() });
});

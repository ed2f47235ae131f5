// Before all others, and no module: where a file of the page does not come, as of a server that is
// full or restarts just then, it says so, and loads the page again once the server answers.
"use strict";
{
  const kAgainMs = 2000;
  let failed = false;
  const again = async () => {
    const there = await fetch(location.href, { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (there) location.reload();
    else setTimeout(again, kAgainMs);
  };
  // A module that another one imports counts too: the error is reported for the one in the
  // document.
  addEventListener("error", ({ target }) => {
    if (failed || !(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    failed = true;
    const say = () => { document.getElementById("connection").textContent = "a file of this page did not come; trying again"; };
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", say);
    else say();
    setTimeout(again, kAgainMs);
  }, true);
}

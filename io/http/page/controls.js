// The buttons of the heading, and the field for a token.
import { token } from "./api.js";
import { repaint } from "./charts.js";
import { byId, say } from "./format.js";

const kThemeKey = "windhover-theme";
const kThemes = [["", "Colours: as the system"], ["light", "Colours: light"], ["dark", "Colours: dark"]];

export function startTheme() {
  let place = Math.max(0, kThemes.findIndex(([name]) => name === localStorage.getItem(kThemeKey)));
  const show = () => {
    const [name, text] = kThemes[place];
    if (name === "") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    say(byId("theme"), text);
    repaint();
  };
  byId("theme").addEventListener("click", () => {
    place = (place + 1) % kThemes.length;
    localStorage.setItem(kThemeKey, kThemes[place][0]);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  show();
}

// held() is true while the user wants nothing to move.
export function startHold() {
  const button = byId("hold");
  button.addEventListener("click", () => {
    const held = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(held));
    say(button, held ? "Go on" : "Hold still");
  });
  return () => button.getAttribute("aria-pressed") === "true";
}

// `again` is called with a new token.
export function startAccess(again) {
  byId("access").addEventListener("submit", (event) => {
    event.preventDefault();
    token.set(byId("token").value.trim());
    byId("token").value = "";
    again();
  });
}

export function askForToken(why) {
  const form = byId("access");
  say(byId("access-why"), token.get() === "" ? "This server wants to know who asks." : `The server said: ${why}.`);
  if (!form.hidden) return;
  form.hidden = false;
  byId("token").focus();
}

export function accessGranted() {
  byId("access").hidden = true;
}

// tone: "good", "wait" or "bad".
export function connection(tone, text) {
  const node = byId("connection");
  if (node.dataset.tone !== tone) node.dataset.tone = tone;
  say(node, text);
}
